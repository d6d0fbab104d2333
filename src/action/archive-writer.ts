/**
 * Writes the files of a tarball, as a server makes it of a commit, into an empty directory. What is in it is not trusted:
 * the names are held against the rules of a checkout, every directory on the way to a file is one that was made here and
 * no link, files are created exclusively, and links are made when all files are there, so that none can lead a file
 * elsewhere. Everything is written at once as it comes, so that nothing is under way any more when something fails.
 */
import { closeSync, lstatSync, mkdirSync, openSync, rmSync, symlinkSync, writeFileSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Parser } from 'tar/parse';
import type { ReadEntry } from 'tar/read-entry';
import { refusedPath } from '../engine/engine.ts';
import { CheckoutError, errnoOf, ioError } from '../engine/errors.ts';
import { harmlessLine } from './log.ts';
import { isObjectId } from './ref.ts';

/** As many entries as a checkout takes (docs/shortcomings.md). */
const MOST_ENTRIES = 0xffffff;

/** Characters of paths and targets of links, which are kept to the end. Linux 6.12 has 80 links. */
const MOST_LINK_CHARACTERS = 64 * 1024 * 1024;

/** Longer paths no system takes (PATH_MAX of Linux). */
const LONGEST_PATH = 4096;

/** What was written. */
export interface ArchiveContent {
  /** Files and links. */
  readonly files: number;
  readonly bytes: number;
  /** The commit that the archive says it is of (`git archive` puts it into the header); null if it does not. */
  readonly commit: string | null;
}

function damaged(what: string): CheckoutError {
  return new CheckoutError(
    'fetch-failed',
    harmlessLine(`the archive that the server sent is not one of a commit: ${what}`),
  );
}

/** Takes the tarball in pieces. After an error of `write` or `end` only `close` may be called. */
export class ArchiveWriter {
  readonly #directory: string;
  readonly #parser: Parser;
  readonly #platform: NodeJS.Platform;
  /** Directories that were made here. */
  readonly #made = new Set<string>();
  readonly #links: { path: string; target: string }[] = [];
  #linkCharacters = 0;
  #entries = 0;
  #files = 0;
  #bytes = 0;
  #commit: string | null = null;
  /** The directory that all entries are in. */
  #top: string | null = null;
  #open: number | null = null;
  #failure: unknown = null;

  /** A writer into `directory`, which is there and empty. */
  constructor(directory: string, platform = process.platform) {
    this.#directory = directory;
    this.#platform = platform;
    const parser = new Parser({ strict: true, brotli: false, zstd: false });
    this.#parser = parser;
    // `strict` makes an error of what is otherwise passed over with a warning.
    parser.on('entry', (entry: ReadEntry) => this.#guard(() => this.#take(entry)));
    parser.on('ignoredEntry', (entry: ReadEntry) => this.#guard(() => this.#refuseIgnored(entry)));
    parser.on('error', (error: Error) =>
      this.#guard(() => {
        throw damaged(error.message);
      }),
    );
  }

  /** Files and links so far. */
  get files(): number {
    return this.#files;
  }

  /** Bytes of files so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The next piece of the tarball, which is not compressed. Throws `fetch-failed`, `path-invalid`, `io`. */
  write(chunk: Buffer): void {
    this.#parser.write(chunk);
    this.#check();
  }

  /** The end of the tarball: makes the links. Throws as `write`. */
  end(): ArchiveContent {
    this.#parser.end();
    this.#check();
    if (this.#top === null) throw damaged('nothing is in it');
    for (const { path, target } of this.#links) this.#makeLink(path, target);
    return { files: this.#files, bytes: this.#bytes, commit: this.#commit };
  }

  /** Lets go of the file that is being written. */
  close(): void {
    if (this.#open !== null) closeSync(this.#open);
    this.#open = null;
  }

  /** The parser calls from within its own loop and goes on with it: what comes after a failure is left alone. */
  #guard(work: () => void): void {
    if (this.#failure !== null) return;
    try {
      work();
    } catch (error) {
      this.#failure = error;
    }
  }

  #check(): void {
    if (this.#failure !== null) throw this.#failure as Error;
  }

  #refuseIgnored(entry: ReadEntry): void {
    throw damaged(`an entry of the type ${entry.type} with ${entry.size} bytes is in it`);
  }

  #take(entry: ReadEntry): void {
    // Flowing from the start, so that the parser never has to wait.
    entry.on('data', (chunk: Buffer) => this.#guard(() => this.#append(entry, chunk)));
    entry.on('end', () => this.#guard(() => this.close()));
    const comment = (entry.globalExtended as { comment?: unknown } | undefined)?.comment;
    if (typeof comment === 'string' && isObjectId(comment)) this.#commit = comment.toLowerCase();
    if (++this.#entries > MOST_ENTRIES) throw damaged(`more than ${MOST_ENTRIES} entries are in it`);

    const path = this.#pathOf(entry);
    if (path === null) return;
    switch (entry.type) {
      case 'Directory':
        this.#makeDirectory(path);
        return;
      case 'File':
      case 'OldFile':
        this.#files++;
        // As git: all may read (the umask decides), and run it if its owner may.
        this.#open = this.#create(path, ((entry.mode ?? 0) & 0o100) === 0 ? 0o666 : 0o777);
        return;
      case 'SymbolicLink': {
        this.#files++;
        const target = entry.linkpath ?? '';
        this.#linkCharacters += path.length + target.length;
        if (this.#linkCharacters > MOST_LINK_CHARACTERS)
          throw damaged('its links are longer than any repository has them');
        this.#links.push({ path, target });
        return;
      }
      default:
        throw damaged(`'${path}' is of the type ${entry.type}`);
    }
  }

  /** The path below the one directory that all are in; null for that directory. */
  #pathOf(entry: ReadEntry): string | null {
    const isDirectory = entry.type === 'Directory';
    const whole = isDirectory ? entry.path.replace(/\/+$/, '') : entry.path;
    if (whole.length > LONGEST_PATH) throw damaged(`a path of ${whole.length} characters is in it`);
    const slash = whole.indexOf('/');
    const top = slash < 0 ? whole : whole.slice(0, slash);
    this.#top ??= top;
    if (top !== this.#top || (slash < 0 && !isDirectory)) {
      throw damaged(`not everything is in one directory: '${whole}' is beside '${this.#top}'`);
    }
    if (slash < 0) return null;
    const path = whole.slice(slash + 1);
    const reason = refusedPath(path, entry.type === 'SymbolicLink', this.#platform);
    if (reason !== null) {
      throw new CheckoutError('path-invalid', harmlessLine(`path '${path}' is refused: ${reason}`), { path });
    }
    if (path.includes('\ufffd') || (entry.linkpath ?? '').includes('\ufffd')) {
      const why = 'it is not UTF-8, or its target is not, and without git only that can be written';
      throw new CheckoutError('path-invalid', harmlessLine(`path '${path}' is refused: ${why}`), { path });
    }
    return path;
  }

  #append(entry: ReadEntry, chunk: Buffer): void {
    if (this.#open === null) {
      throw damaged(`'${entry.path}' is of the type ${entry.type} and has content`);
    }
    try {
      for (let at = 0; at < chunk.length;) at += writeSync(this.#open, chunk, at);
    } catch (error) {
      throw ioError('write', entry.path, error);
    }
    this.#bytes += chunk.length;
  }

  #create(path: string, mode: number): number {
    this.#makeDirectory(dirname(path));
    const file = join(this.#directory, path);
    try {
      try {
        return openSync(file, 'wx', mode);
      } catch (error) {
        if (errnoOf(error) !== 'EEXIST') throw error;
        // Two names that are one on this file system: the last stays, as with git.
        rmSync(file);
        return openSync(file, 'wx', mode);
      }
    } catch (error) {
      throw ioError('create', file, error);
    }
  }

  #makeLink(path: string, target: string): void {
    this.#makeDirectory(dirname(path));
    const link = join(this.#directory, path);
    try {
      rmSync(link, { force: true });
      try {
        symlinkSync(target, link);
      } catch (error) {
        // Windows lets only some users make links; git writes a file with the target there.
        if (this.#platform !== 'win32' || errnoOf(error) !== 'EPERM') throw error;
        writeFileSync(link, target, { flag: 'wx' });
      }
    } catch (error) {
      throw ioError('create', link, error);
    }
  }

  /** Makes a directory and those above it; all of them are real ones. */
  #makeDirectory(path: string): void {
    if (path === '.' || this.#made.has(path)) return;
    this.#makeDirectory(dirname(path));
    const directory = join(this.#directory, path);
    try {
      mkdirSync(directory);
    } catch (error) {
      if (errnoOf(error) !== 'EEXIST') throw ioError('make directory', directory, error);
      // Another spelling of one that was made, where case does not count.
      if (!lstatSync(directory).isDirectory()) {
        throw new CheckoutError('path-invalid', harmlessLine(`'${path}' is a directory and something else as well`), {
          path,
        });
      }
    }
    this.#made.add(path);
  }
}
