/**
 * Notes that an entry could not be written by the main thread: its state, and an error that names the path.
 */
import { CheckoutError, ioError } from '../errors.ts';
import { MODE_SYMLINK } from '../object/tree.ts';
import { displayPath } from '../worktree/paths.ts';
import { State, type Tables } from './tables.ts';

/** Notes that an entry has failed. The error is a CheckoutError, or one of the system's. */
export function fail(tables: Tables, failures: Map<number, CheckoutError>, entry: number, error: unknown): void {
  const path = displayPath(tables.pathBytes, tables.pathOffsets[entry] ?? 0, tables.pathOffsets[entry + 1] ?? 0);
  if (error instanceof CheckoutError) {
    failures.set(
      entry,
      new CheckoutError(error.code, `cannot write '${path}': ${error.message}`, { ...error.subject, path }),
    );
  } else {
    const kind = tables.modes[entry] === MODE_SYMLINK ? 'create the link' : 'write';
    failures.set(entry, ioError(kind, path, error));
  }
  tables.states[entry] = State.FAILED;
}
