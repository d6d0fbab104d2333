/**
 * core.sharedRepository: whom else, beside the user, files of the git directory are for. What is made there gets these
 * permissions on top of the umask's, or in their place (git-config).
 */
import { chmodSync, lstatSync } from 'node:fs';
import { dirname } from 'node:path';
import { CheckoutError } from '../errors.ts';

/** Permissions of files made in the git directory; null leaves them to the umask. */
export type SharedPermissions = {
  /** Bits of 0666. */
  readonly bits: number;
  /** Whether they take the place of the umask's, or add to them. */
  readonly isExact: boolean;
} | null;

const GROUP: SharedPermissions = { bits: 0o660, isExact: false };
const EVERYBODY: SharedPermissions = { bits: 0o664, isExact: false };
const NAMES: ReadonlyMap<string, SharedPermissions> = new Map([
  ['umask', null],
  ['group', GROUP],
  ['all', EVERYBODY],
  ['world', EVERYBODY],
  ['everybody', EVERYBODY],
  ['true', GROUP],
  ['yes', GROUP],
  ['on', GROUP],
  ['false', null],
  ['no', null],
  ['off', null],
  ['', null],
]);
/** What the numbers of old versions stand for. */
const OLD_NUMBERS: ReadonlyMap<number, SharedPermissions> = new Map([
  [0, null],
  [1, GROUP],
  [2, EVERYBODY],
]);
/** Everything made in a directory belongs to the directory's group. */
const SET_GROUP_ID = 0o2000;

/**
 * The meaning of core.sharedRepository.
 * @param value undefined where it is not set, null where it has no value
 * @throws CheckoutError config-invalid for what git refuses
 */
export function parseSharedRepository(value: string | null | undefined): SharedPermissions {
  if (value === undefined) return null;
  if (value === null) return GROUP;
  if (/^[0-7]+$/.test(value)) {
    const mode = Number.parseInt(value, 8);
    const old = OLD_NUMBERS.get(mode);
    if (old !== undefined) return old;
    if ((mode & 0o600) === 0o600) return { bits: mode & 0o666, isExact: true };
  } else {
    // Names are written small; only what is a boolean is one in any case, as is a decimal number.
    const named = NAMES.get(value) ?? (/^(true|yes|on|[1-9][0-9]*)$/i.test(value) ? GROUP : undefined);
    if (named !== undefined) return named;
    if (NAMES.has(value) || /^(false|no|off)$/i.test(value)) return null;
  }
  throw new CheckoutError('config-invalid', `core.sharedRepository: '${value}' gives no permissions that git knows`, {
    option: 'core.sharedRepository',
  });
}

/** The mode that a file or directory of this mode gets. */
function sharedMode(mode: number, { bits, isExact }: NonNullable<SharedPermissions>, isDirectory: boolean): number {
  let more = bits;
  if ((mode & 0o200) === 0) more &= ~0o222;
  if ((mode & 0o100) !== 0) more |= (more & 0o444) >> 2;
  let result = isExact ? (mode & ~0o777) | more : mode | more;
  if (isDirectory) {
    result |= (result & 0o444) >> 2;
    if ((result & 0o060) !== 0) result |= SET_GROUP_ID;
  }
  return result;
}

/** Gives a file or directory that was made the permissions it should have. @throws what the system does */
export function shareFile(path: string, permissions: SharedPermissions): void {
  if (permissions === null || process.platform === 'win32') return;
  const stat = lstatSync(path);
  const mode = stat.mode & 0o7777;
  const wanted = sharedMode(mode, permissions, stat.isDirectory());
  if (wanted !== mode) chmodSync(path, wanted);
}

/**
 * The same for directories that `mkdir -p` made.
 * @param first the topmost of them, as mkdirSync tells it; undefined when there was nothing to make
 * @param last the lowest
 */
export function shareDirectories(first: string | undefined, last: string, permissions: SharedPermissions): void {
  if (permissions === null || first === undefined) return;
  for (let path = last; path.length >= first.length; path = dirname(path)) shareFile(path, permissions);
}
