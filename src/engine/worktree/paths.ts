/**
 * Paths of the working tree as bytes: the root once, then each entry's path behind it, without a string in between.
 */
import type { Bytes } from '../bytes.ts';
import { displayBytes } from '../bytes.ts';

/**
 * Longest path that a system call takes, without its NUL: limits.h of the platforms. On Windows it is what a path with the prefix \\?\
 * may have; Node puts the prefix in front of absolute paths, given as text or as bytes.
 */
export function maxPathBytes(platform: NodeJS.Platform): number {
  if (platform === 'win32') return 32_767;
  return platform === 'linux' ? 4095 : 1023;
}

/** Builds absolute paths in one buffer. A path it returns is valid until the next call. */
export class WorktreePaths {
  readonly root: string;
  #buffer: Buffer;
  readonly #rootLength: number;

  /** @param root absolute path of the working tree */
  constructor(root: string) {
    this.root = root;
    const bytes = Buffer.from(root.endsWith('/') ? root : `${root}/`, 'utf8');
    this.#rootLength = bytes.length;
    this.#buffer = Buffer.alloc(bytes.length + 4096);
    bytes.copy(this.#buffer);
  }

  /** Bytes of the root with its slash. */
  get rootBytes(): number {
    return this.#rootLength;
  }

  /** The absolute path of path[start, end). */
  absolute(path: Bytes, start: number, end: number): Buffer {
    const length = end - start;
    if (this.#rootLength + length > this.#buffer.length) {
      const grown = Buffer.alloc(this.#rootLength + length * 2);
      this.#buffer.copy(grown, 0, 0, this.#rootLength);
      this.#buffer = grown;
    }
    const buffer = this.#buffer;
    for (let i = start, at = this.#rootLength; i < end; i++) buffer[at++] = path[i] ?? 0;
    return buffer.subarray(0, this.#rootLength + length);
  }
}

/** The path relative to the root, for messages. */
export function displayPath(path: Bytes, start: number, end: number): string {
  return displayBytes(path.subarray(start, end));
}
