/**
 * Runs random cases for a time or a number, and shrinks the first that fails.
 */
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { anyCase } from './arbitraries.ts';
import { Coverage } from './coverage.ts';
import { isolateGit } from './isolate-git.ts';
import type { Case } from './model.ts';
import { runCase, type CaseResult } from './run-case.ts';
import { Shell } from './shell.ts';

/** Cases of one seed. fast-check makes the first ones of a seed small. */
const ROUND = 200;

/** A case that shrinks for longer is small enough. */
const SHRINK_MS = 90_000;

export interface Failure {
  readonly seed: number;
  readonly case: Case;
  readonly differences: readonly string[];
}

export interface Fuzzed {
  readonly failure: Failure | null;
  readonly coverage: Coverage;
}

/** A place for cases to run in: in memory where the system has that, since a case is hundreds of small files. */
export class Workplace {
  readonly folder: string;
  readonly shell: Shell;

  constructor() {
    const memory = statSync('/dev/shm', { throwIfNoEntry: false })?.isDirectory() === true;
    this.folder = mkdtempSync(join(memory ? '/dev/shm' : tmpdir(), 'parallel-checkout-fuzz-'));
    mkdirSync(join(this.folder, 'home'));
    // Before the shell, which hands its environment on to git.
    isolateGit(join(this.folder, 'home'));
    this.shell = new Shell(this.folder);
  }

  /** Where the case that runs now is written, for whoever finds that the process was killed or hangs. */
  get caseFile(): string {
    return join(this.folder, 'case.json');
  }

  /** Runs a case; whatever is thrown is a difference too, since git does not throw. */
  async run(one: Case): Promise<CaseResult> {
    writeFileSync(this.caseFile, JSON.stringify(one));
    try {
      return await runCase(one, join(this.folder, 'case'), join(this.folder, 'home'), this.shell);
    } catch (error) {
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
      return { differences: [`thrown: ${text}`], engines: [], fallbacks: [], endings: [], threads: 0 };
    }
  }

  close(keep = false): void {
    this.shell.close();
    if (!keep) rmSync(this.folder, { recursive: true, force: true });
  }
}

class Different extends Error {
  readonly differences: readonly string[];

  constructor(differences: readonly string[]) {
    super(differences.join('\n'));
    this.differences = differences;
  }
}

export interface FuzzOptions {
  readonly seed: number;
  /** Stops after this time, or after this many cases, whichever is given. */
  readonly seconds?: number;
  readonly cases?: number;
  readonly onRound?: (coverage: Coverage) => void;
}

export async function fuzz(place: Workplace, options: FuzzOptions): Promise<Fuzzed> {
  const coverage = new Coverage();
  const end = options.seconds === undefined ? Infinity : performance.now() + 1000 * options.seconds;
  const limit = options.cases ?? Infinity;
  for (let seed = options.seed; performance.now() < end && coverage.cases < limit; seed++) {
    let failedAt = Infinity;
    const details = await fc.check(
      fc.asyncProperty(anyCase, async (one) => {
        if (failedAt === Infinity && performance.now() > end) return;
        if (performance.now() > failedAt + SHRINK_MS) return;
        const result = await place.run(one);
        if (failedAt === Infinity) coverage.add(one, result);
        if (result.differences.length > 0) {
          failedAt = Math.min(failedAt, performance.now());
          throw new Different(result.differences);
        }
      }),
      { seed, numRuns: Math.min(ROUND, limit - coverage.cases) },
    );
    if (details.failed) {
      const [found] = details.counterexample ?? [];
      if (found === undefined) throw new Error('a failure without a case');
      const differences =
        details.errorInstance instanceof Different
          ? details.errorInstance.differences
          : [String(details.errorInstance)];
      return { failure: { seed, case: found, differences }, coverage };
    }
    options.onRound?.(coverage);
  }
  return { failure: null, coverage };
}
