/**
 * Replace refs (git-replace): refs/replace/<id> holds the id of the object that is read in place of <id>.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import type { Environment } from '../config/environment.ts';
import { displayBytes } from '../bytes.ts';
import { CheckoutError, errnoOf, ioError } from '../errors.ts';
import { isHexOid, type ObjectFormat } from '../oid.ts';
import { packedRefsBelow } from './packed-range.ts';
import { packedRefsOnce, resolveRef } from './read-refs.ts';
import { isValidRefName, type RefDirs } from './ref-names.ts';

/**
 * All replacements that are in force, by the id of the object that is replaced; empty where they are switched off.
 * @param warn told of refs that name no object
 * @throws CheckoutError unsupported for two of one object (git gives up as well, in its own words), unknown-revision where
 * packed-refs is damaged, io
 */
export function readReplaceRefs(
  dirs: RefDirs,
  format: ObjectFormat,
  config: Config,
  environment: Environment,
  warn: (line: string) => void,
): Map<string, string> {
  const pairs = new Map<string, string>();
  if (environment['GIT_NO_REPLACE_OBJECTS'] !== undefined || config.getBool('core.useReplaceRefs') === false) {
    return pairs;
  }
  const prefix = environment['GIT_REPLACE_REF_BASE'] ?? 'refs/replace/';
  if (!isValidRefName(prefix.endsWith('/') ? prefix.slice(0, -1) : prefix)) return pairs;
  const packed = packedRefsOnce(dirs);
  const bytes = packed();
  const inPack = bytes === null ? [] : packedRefsBelow(bytes, prefix, format);
  if (inPack.length > 0 && bytes !== null) checkLines(bytes);
  const loose = new Set(looseNames(dirs, prefix));
  const found = [
    ...inPack.filter(({ name }) => !loose.has(name)).map(({ name, oid }) => ({ name, read: () => oid })),
    ...[...loose].map((name) => ({ name, read: () => oidOf(dirs, name, packed) })),
  ];
  for (const { name, read } of found) {
    const replaced = name.slice(name.lastIndexOf('/') + 1).toLowerCase();
    const isId = isHexOid(replaced, format);
    const oid = isId ? read() : null;
    const isBroken = oid === null || !isHexOid(oid, format);
    if (isBroken) warn(`the replace ref '${displayBytes(Buffer.from(name))}' is broken, or does not name an object`);
    if (!isId) continue;
    // As with git, the object cannot be read then: what stands in its place is not known.
    const replacement = isBroken ? '0'.repeat(replaced.length) : oid;
    if (pairs.has(replaced)) {
      throw new CheckoutError('unsupported', 'an object has two replace refs', { oid: replaced });
    } else {
      pairs.set(replaced, replacement);
    }
  }
  return pairs;
}

function oidOf(dirs: RefDirs, name: string, packed: () => Buffer | null): string | null {
  try {
    return resolveRef(dirs, name, packed)?.oid ?? null;
  } catch (error) {
    if (error instanceof CheckoutError && error.code === 'unknown-revision') return null;
    throw error;
  }
}

/** Names of loose refs that begin with the prefix. */
function looseNames(dirs: RefDirs, prefix: string): string[] {
  const names: string[] = [];
  const walk = (folder: string): void => {
    let entries;
    try {
      entries = readdirSync(join(dirs.commonDir, folder), { withFileTypes: true });
    } catch (error) {
      const errno = errnoOf(error);
      if (errno === 'ENOENT' || errno === 'ENOTDIR') return;
      throw ioError('read', join(dirs.commonDir, folder), error);
    }
    for (const entry of entries) {
      const name = `${folder}/${entry.name}`;
      if (!isValidRefName(name)) continue;
      if (entry.isDirectory()) walk(name);
      else if (name.startsWith(prefix)) names.push(name);
    }
  };
  walk(prefix.slice(0, prefix.lastIndexOf('/')));
  return names;
}

/** Lines of packed-refs: a ref, or what the tag of the line before leads to. */
const PACKED_LINE = /(?:[0-9a-f]{40,64} [^\n]+|\^[0-9a-f]{40,64})\n/iy;
const PACKED_HEADER = '# pack-refs with:';

/**
 * Of a damaged line elsewhere nobody knows whether it was a replacement, and git, which looks up more refs in a checkout than
 * these, may stop at it.
 * @throws CheckoutError unknown-revision
 */
function checkLines(packed: Buffer): void {
  const text = packed.toString('latin1');
  PACKED_LINE.lastIndex = text.startsWith(PACKED_HEADER) ? text.indexOf('\n') + 1 : 0;
  while (PACKED_LINE.lastIndex < text.length) {
    const at = PACKED_LINE.lastIndex;
    if (PACKED_LINE.test(text)) continue;
    const line = displayBytes(packed.subarray(at, Math.min(packed.indexOf(10, at), at + 80)));
    throw new CheckoutError('unknown-revision', `packed-refs has a line that is none: '${line}'`, {
      path: 'packed-refs',
    });
  }
}
