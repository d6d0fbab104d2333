/**
 * Makes file system calls fail on demand, in every thread of a process that is started with `--import` of this file. The engine calls
 * `node:fs` by its live bindings, so its code runs as it is; only the call that is to fail does not reach the system.
 *
 * The environment variable FAULT says what fails (see Fault); a worker gets it from the thread that starts it.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { constants } from 'node:os';
import { isMainThread } from 'node:worker_threads';

export interface Fault {
  readonly call: string;
  /** Such as 'EIO'; 'BUG' is an exception that no file system call throws. */
  readonly errno: string;
  /** The first call to fail, from 1, counted in each thread for itself. */
  readonly nth: number;
  /** Whether all later ones fail too. */
  readonly lasting: boolean;
  /** Only calls on paths below this folder. */
  readonly below: string;
  /** A file that gets a line for each call that failed: the thread, a space, and the path. */
  readonly log: string;
}

/** The calls by the name of what they ask of the system; which argument is a path, or a descriptor. */
const CALLS: Readonly<Record<string, readonly string[]>> = {
  open: ['openSync'],
  read: ['readSync', 'readFileSync'],
  write: ['writeSync', 'writevSync', 'writeFileSync', 'appendFileSync'],
  fstat: ['fstatSync'],
  truncate: ['ftruncateSync'],
  close: ['closeSync'],
  lstat: ['lstatSync', 'statSync'],
  mkdir: ['mkdirSync'],
  rename: ['renameSync'],
  unlink: ['unlinkSync', 'rmSync'],
  rmdir: ['rmdirSync'],
  symlink: ['symlinkSync'],
  readlink: ['readlinkSync'],
  readdir: ['readdirSync'],
  copy: ['copyFileSync'],
};

/** Names that a fault's `call` may have. */
export const CALL_NAMES: readonly string[] = Object.keys(CALLS);

const paths = new Map<number, string>();
const { appendFileSync } = fs;

let known = '';
let fault: Fault | null = null;
let count = 0;

/** The error that a call on this path is to end with, if any. */
function failureOf(call: string, path: string): Error | null {
  const wanted = process.env['FAULT'] ?? '';
  if (wanted !== known) {
    known = wanted;
    fault = wanted === '' ? null : (JSON.parse(wanted) as Fault);
    count = 0;
  }
  if (fault?.call !== call || !path.startsWith(fault.below)) return null;
  count++;
  if (count < fault.nth || (count > fault.nth && !fault.lasting)) return null;
  appendFileSync(fault.log, `${isMainThread ? 'main' : 'worker'} ${path}\n`);
  const { errno } = fault;
  if (errno === 'BUG') return new TypeError('made to be a bug');
  return Object.assign(new Error(`${errno}: made to fail, ${call} '${path}'`), {
    code: errno,
    errno: -(constants.errno as Readonly<Record<string, number>>)[errno]!,
    syscall: call,
    path,
  });
}

for (const [call, names] of Object.entries(CALLS)) {
  for (const name of names) {
    const table = fs as unknown as Record<string, (...args: unknown[]) => unknown>;
    const original = table[name]!;
    table[name] = (...args): unknown => {
      const [first] = args;
      // Of a link the second path is what is made.
      const named = name === 'symlinkSync' || name === 'copyFileSync' ? args[1] : first;
      const path = typeof named === 'number' ? (paths.get(named) ?? '') : String(named);
      const failure = failureOf(call, path);
      // A descriptor is gone even if closing it fails.
      if (failure !== null && name === 'closeSync') original(...args);
      if (failure !== null) throw failure;
      const result = original(...args);
      if (name === 'openSync') paths.set(result as number, path);
      return result;
    };
  }
}
syncBuiltinESMExports();
