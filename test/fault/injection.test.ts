/**
 * One file system call fails, and then the next one in another run, until each call of a checkout has failed: with EIO,
 * ENOSPC, EMFILE, EACCES and EROFS. Whatever fails: one coded error, the old index or the new one, no lock and no half of a file left,
 * and the next run repairs.
 *
 * Every call with every error takes minutes; LONG_TESTS=1 does that. Otherwise each call fails at some places with one error each.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Job, Verdict } from '../support/fault-job.ts';
import { runFaultJob } from '../support/fault.ts';
import { CALL_NAMES } from '../support/inject-faults.ts';
import { LONG } from '../support/long-tests.ts';
import { randomText } from '../support/random.ts';
import { GitRepository, type TreeSpec } from '../support/repository.ts';
import { memoryFolder, temporaryFolder } from '../support/temporary.ts';

const folder = temporaryFolder('injection', memoryFolder());
const ERRORS = ['EIO', 'ENOSPC', 'EMFILE', 'EACCES', 'EROFS'] as const;

/** Files that come, change, go, stay; directories that come and go; links; a converted file and a large one. */
const before: TreeSpec = {
  '.gitattributes': '*.crlf eol=crlf\n',
  'a.crlf': 'one\n',
  'gone/deep/file': 'x\n',
  'gone/file': 'x\n',
  'file-then-directory': 'x\n',
  'directory-then-file/x': 'x\n',
  link: { symlink: 'kept' },
  'link-then-file': { symlink: 'kept' },
  kept: 'kept\n',
};
const after: TreeSpec = {
  '.gitattributes': '*.crlf eol=crlf\n*.id ident\n',
  'a.crlf': 'two\n',
  'b.id': '$Id$\n',
  'file-then-directory/x': 'y\n',
  'directory-then-file': 'y\n',
  'come/deep/file': 'y\n',
  link: { symlink: 'a.crlf' },
  'link-then-file': 'y\n',
  large: randomText(5, 300 << 10),
  kept: 'kept\n',
};

interface Setting {
  readonly name: string;
  readonly packed: boolean;
  readonly workers: readonly number[];
}

function repositoryFor({ name, packed }: Setting): Omit<Job, 'faults' | 'workers'> {
  mkdirSync(join(folder, name));
  const repository = new GitRepository(join(folder, name), 'case');
  const [from, to] = repository.commits([before, after]);
  if (packed) repository.git(['repack', '-adq']);
  repository.git(['checkout', '-q', '--detach', from!.commit]);
  return { directory: repository.directory, commits: [from!.commit, to!.commit] };
}

/** The places at which a call fails: each until the first that no run reaches, or a few of them. */
function placesOf(call: string): readonly number[] {
  if (LONG) return Array.from({ length: 60 }, (_, i) => i + 1);
  return call === 'open' || call === 'read' || call === 'lstat' || call === 'write' ? [1, 3, 7, 13] : [1, 3];
}

const settings: readonly Setting[] = [
  { name: 'packed', packed: true, workers: [1] },
  { name: 'loose', packed: false, workers: [0] },
];

describe.each(settings)('$name objects, $workers workers', (setting) => {
  it(
    'each call that can fail',
    async () => {
      const repository = repositoryFor(setting);
      const faults = CALL_NAMES.flatMap((call, which) =>
        placesOf(call).flatMap((nth, at) => {
          const errors = LONG ? ERRORS : [ERRORS[(which + at + setting.workers[0]!) % ERRORS.length]!];
          return errors.flatMap((errno) =>
            [false, true].slice(0, LONG || at === 0 ? 2 : 1).map((lasting) => ({ call, errno, nth, lasting })),
          );
        }),
      );
      const verdicts = await runFaultJob({ ...repository, faults, workers: setting.workers });
      const shown = (verdict: Verdict): string =>
        `${JSON.stringify(verdict.fault)} (${verdict.hits.join(', ')}) -> ${verdict.outcome} ${verdict.message}`;
      expect(
        verdicts.filter((verdict) => verdict.wrong.length > 0).map((v) => `${shown(v)}\n    ${v.wrong.join('\n    ')}`),
      ).toEqual([]);
      const met = new Set(verdicts.filter((verdict) => verdict.hits.length > 0).map((verdict) => verdict.fault.call));
      for (const call of ['open', 'read', 'write', 'fstat', 'mkdir', 'rename', 'unlink', 'lstat', 'symlink']) {
        expect(met.has(call), `no ${call} failed`).toBe(true);
      }
      // A lasting failure of what a checkout cannot do without is told.
      for (const verdict of verdicts.filter(({ fault }) => fault.lasting && /^(open|write|rename)$/.test(fault.call))) {
        if (verdict.fault.nth === 1) expect(verdict.outcome, shown(verdict)).not.toBe('right');
      }
    },
    LONG ? 1_800_000 : 60_000,
  );
});
