/**
 * A bug of ours in the middle of a run: it is shown as a bug, not as the system's failure, and leaves what any failure
 * leaves: the old index, no lock, and a repository that the next run repairs.
 */
import { describe, expect, it } from 'vitest';
import { ioError } from '../../src/engine/errors.ts';
import { runFaultJob } from '../support/fault.ts';
import { GitRepository } from '../support/repository.ts';
import { temporaryFolder } from '../support/temporary.ts';

const folder = temporaryFolder('bug');

describe('a call that throws what no call throws', () => {
  it('ends the run as a bug, in the main thread; of a worker, others do its work', async () => {
    const repository = new GitRepository(folder, 'case');
    const files = (version: string): Record<string, string> =>
      Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`d/f${i}`, `${version} ${i}\n`]));
    const [from, to] = repository.commits([files('one'), files('two')]);
    repository.git(['repack', '-adq']);
    repository.git(['checkout', '-q', '--detach', from!.commit]);
    const verdicts = await runFaultJob({
      directory: repository.directory,
      commits: [from!.commit, to!.commit],
      faults: ['write', 'fstat'].flatMap((call) =>
        [3, 19].flatMap((nth) => [false, true].map((lasting) => ({ call, errno: 'BUG', nth, lasting }))),
      ),
      workers: [0, 1],
    });
    expect(verdicts.length).toBe(16);
    for (const { fault, workers, hits, outcome, wrong, message } of verdicts) {
      const shown = JSON.stringify({ fault, workers, hits, outcome, message, wrong });
      expect(hits.length, shown).toBeGreaterThan(0);
      const written = hits.some((hit) => hit.startsWith('main'));
      expect(outcome, shown).toBe(written ? 'bug' : 'right');
      // The stack is told, and nothing else is wrong.
      expect(wrong.length, shown).toBe(written ? 1 : 0);
      if (written) expect(wrong[0]).toMatch(/^TypeError: made to be a bug/);
    }
    expect(verdicts.some(({ workers, outcome }) => workers === 1 && outcome === 'right')).toBe(true);
  }, 60_000);
});

describe('what is thrown while a file is written', () => {
  it('is the system’s failure, lack of memory, or a bug', () => {
    const refused = Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES', errno: -13 });
    expect(ioError('write', 'f', refused)).toMatchObject({ code: 'io', subject: { errno: 'EACCES' } });
    let failure: unknown;
    try {
      new Uint8Array(2 ** 52);
    } catch (error) {
      failure = error;
    }
    expect(ioError('write', 'f', failure)).toMatchObject({ code: 'memory', subject: { path: 'f' } });
    const bugs = [
      new TypeError('undefined is not a function'),
      new Error('no conversion 7'),
      Object.assign(new RangeError('The value of "length" is out of range'), { code: 'ERR_OUT_OF_RANGE' }),
    ];
    for (const bug of bugs) expect(() => ioError('write', 'f', bug)).toThrow(bug);
  });
});
