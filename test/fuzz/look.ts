/**
 * What can be seen of a copy after a checkout: all that is on disk, which files are other ones than before, the index in
 * git's view and its stat data against the files', git's status, and every file of the git directory that a checkout
 * could change.
 */
import { lstatSync, readFileSync, readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { identities, inside, snapshot, type Snapshot } from '../support/worktree.ts';
import { HASH_BYTES } from './build.ts';
import { indexFacts, knownTreesText } from './index-file.ts';
import type { Case } from './model.ts';
import type { Shell } from './shell.ts';

/** What is compared, by the name that a difference is reported under; in each, values by path or name. */
export type Seen = Readonly<Record<Aspect, ReadonlyMap<string, string>>>;
export const ASPECTS = ['files', 'rewritten', 'entries', 'stat', 'index', 'status', 'repository'] as const;
export type Aspect = (typeof ASPECTS)[number];

/** What a copy was before a checkout. */
export interface Before {
  /** Which file each path is. */
  readonly identities: ReadonlyMap<string, string>;
  /** Paths of symbolic links. */
  readonly links: ReadonlySet<string>;
}

export function lookBefore(box: string): Before {
  const files = snapshot(`${box}/tree`);
  const links = [...files].filter(([, value]) => value.startsWith('link ')).map(([path]) => path);
  return { identities: identities(`${box}/tree`, files.keys()), links: new Set(links) };
}

export async function look(
  one: Case,
  box: string,
  before: Before,
  shell: Shell,
): Promise<{ seen: Seen; cacheTree: string }> {
  const tree = `${box}/tree`;
  const index = `${tree}/.git/index`;
  const files: Snapshot = snapshot(tree);
  for (const [path, value] of snapshot(`${box}/outside`)) files.set(`(outside) ${path}`, value);
  const after = identities(tree, files.keys());
  const rewritten = new Map<string, string>();
  for (const [path, identity] of after) {
    rewritten.set(path, before.identities.get(path) === identity ? 'kept' : 'new');
  }
  const repository = gitFiles(`${tree}/.git`);
  const facts = new Map<string, string>();
  let bytes: Buffer | null = null;
  try {
    bytes = readFileSync(index);
  } catch {
    facts.set('index', 'none');
  }
  if (bytes !== null) {
    const { version, extensions } = indexFacts(bytes, HASH_BYTES[one.hash]);
    facts.set('version', String(version));
    for (const [name, value] of extensions) {
      facts.set(name, name === 'TREE' ? knownTreesText(value, HASH_BYTES[one.hash]) : 'there');
    }
    // Then status goes by stat data wherever it can, in whichever second this runs.
    const later = Date.now() / 1000 + 10;
    utimesSync(index, later, later);
  }
  const mark = '\x01@@\x01';
  const { stdout } = await shell.run(
    tree,
    [
      'git ls-files -s -v -z --debug',
      `printf '\\001@@\\001'`,
      'git status --porcelain -z --untracked-files=all --ignored',
      `printf '\\001@@\\001'`,
      bytes === null
        ? ':'
        : 'cp .git/index ../index && GIT_INDEX_FILE=../index GIT_TEST_CHECK_CACHE_TREE=1 git update-index --force-write-index 2>&1; echo $?',
    ].join('\n'),
  );
  const [listing = '', status = '', cacheTree = ''] = stdout.toString('latin1').split(mark);
  const { entries, stat } = indexEntries(listing, tree);
  return {
    seen: {
      files,
      rewritten,
      entries,
      stat,
      index: facts,
      status: new Map(status.split('\0').map((line) => [line, ''])),
      repository,
    },
    cacheTree,
  };
}

/** All of the git directory that a checkout may change but the index and objects. */
function gitFiles(gitDir: string): Map<string, string> {
  const found = new Map<string, string>();
  const walk = (folder: string): void => {
    for (const item of readdirSync(join(gitDir, folder), { withFileTypes: true })) {
      const path = folder === '' ? item.name : `${folder}/${item.name}`;
      if (path === 'objects' || path === 'index' || path.startsWith('sharedindex.')) continue;
      if (item.isDirectory()) walk(path);
      else {
        const text = readFileSync(join(gitDir, path), 'latin1');
        // The times of a reflog.
        found.set(path, path.startsWith('logs/') ? text.replace(/> \d+ [+-]\d{4}\t/g, '> TIME\t') : text);
      }
    }
  };
  walk('');
  return found;
}

const FIELDS = ['ctime', 'ctime-ns', 'mtime', 'mtime-ns', 'dev', 'ino', 'uid', 'gid', 'size'];

/** What `ls-files --debug` lists: each entry, and which of its stat data are not the file's. */
function indexEntries(listing: string, tree: string): { entries: Map<string, string>; stat: Map<string, string> } {
  const entries = new Map<string, string>();
  const stat = new Map<string, string>();
  const pattern =
    /(\S) (\d+) ([0-9a-f]+) (\d)\t([^\0]*)\0 {2}ctime: (\d+):(\d+)\n {2}mtime: (\d+):(\d+)\n {2}dev: (\d+)\tino: (\d+)\n {2}uid: (\d+)\tgid: (\d+)\n {2}size: (\d+)\tflags: ([0-9a-f]+)\n/g;
  inside(tree, () => {
    for (const [, tag, mode, oid, stage, path = '', ...words] of listing.matchAll(pattern)) {
      // Of the flags those that are in the file: stage, assume-valid, intent-to-add, skip-worktree. The others are git's
      // own marks, such as for an entry of a shared index.
      const flags = (parseInt(words.pop() ?? '', 16) & 0x6000b000).toString(16);
      entries.set(`${path} ${stage ?? ''}`, `${tag ?? ''} ${mode ?? ''} ${oid ?? ''} ${flags}`);
      stat.set(`${path} ${stage ?? ''}`, otherThanOnDisk(path, words));
    }
  });
  return { entries, stat };
}

function otherThanOnDisk(path: string, words: readonly string[]): string {
  if (words.every((word) => word === '0')) return 'all zero';
  let file;
  try {
    file = lstatSync(Buffer.from(path, 'latin1'), { bigint: true, throwIfNoEntry: false });
  } catch {
    // Below something that is no directory.
  }
  if (file === undefined) return 'not on disk';
  const low = (value: bigint): bigint => value & 0xffffffffn;
  const second = 1_000_000_000n;
  const actual = [
    low(file.ctimeNs / second),
    file.ctimeNs % second,
    low(file.mtimeNs / second),
    file.mtimeNs % second,
    low(file.dev),
    low(file.ino),
    low(file.uid),
    low(file.gid),
    low(file.size),
  ];
  const other = FIELDS.filter((_, i) => String(actual[i]) !== words[i]);
  if (words[8] === '0' && other.includes('size')) other.push('(size zero)');
  return other.length === 0 ? 'as on disk' : `other ${other.join(' ')}`;
}
