/**
 * What git-lfs tells of a download in the file that GIT_LFS_PROGRESS names: a line for every piece of every file. The file is emptied from
 * time to time, or it would take a hundredth of what is downloaded.
 */
import { closeSync, ftruncateSync, openSync, readSync } from 'node:fs';
import type { Progress } from '../settings.ts';

/** `download <number>/<files> <bytes so far>/<bytes> <name>` */
const LINE = /^download \d+\/\d+ (\d{1,15})\/(\d{1,15}) (.*)$/;

/** Read at a time, and how large the file gets. */
const PIECE_BYTES = 64 << 10;
const MOST_BYTES = 4 << 20;
/** No name is longer; a line without an end is not kept. */
const MOST_LINE = 8192;

/** Adds lines up. Pure. */
export class LfsProgressSum {
  filesDone = 0;
  bytesDone = 0;
  /** Bytes that have come of files that are not complete, by name. */
  readonly #open = new Map<string, number>();
  #rest = '';

  push(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = (lines.pop() ?? '').slice(-MOST_LINE);
    for (const line of lines) {
      const match = LINE.exec(line);
      if (match === null) continue;
      const [, read = '', size = '', name = ''] = match;
      const bytes = Number(read);
      this.bytesDone += bytes - (this.#open.get(name) ?? 0);
      if (read === size) {
        this.#open.delete(name);
        this.filesDone++;
      } else {
        this.#open.set(name, bytes);
      }
    }
  }
}

/** Follows the file. */
export class LfsProgress {
  readonly #path: string;
  readonly #filesTotal: number;
  readonly #sum = new LfsProgressSum();
  #offset = 0;
  #consumed = 0;

  constructor(path: string, filesTotal: number) {
    this.#path = path;
    this.#filesTotal = filesTotal;
  }

  /** Bytes that git-lfs has written: more means that something came. */
  mark(): number {
    this.read();
    return this.#consumed;
  }

  /** How far the download is. A file that cannot be read costs the numbers, not the download. */
  read(): Progress {
    try {
      const fd = openSync(this.#path, 'r+');
      try {
        const piece = Buffer.allocUnsafe(PIECE_BYTES);
        for (let got = -1; got !== 0;) {
          got = readSync(fd, piece, 0, PIECE_BYTES, this.#offset);
          this.#sum.push(piece.toString('latin1', 0, got));
          this.#offset += got;
          this.#consumed += got;
        }
        // git-lfs appends, wherever the end is.
        if (this.#offset > MOST_BYTES) {
          ftruncateSync(fd, 0);
          this.#offset = 0;
        }
      } finally {
        closeSync(fd);
      }
    } catch {
      // As it says above.
    }
    const { filesDone, bytesDone } = this.#sum;
    const filesTotal = this.#filesTotal;
    return { phase: 'lfs', filesDone: Math.min(filesDone, filesTotal), filesTotal, bytesDone };
  }
}
