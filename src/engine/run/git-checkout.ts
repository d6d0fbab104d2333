/**
 * A checkout by `git checkout`, for what our engine does not do; and the counts of what git wrote, from the index before and after.
 */
import { existsSync } from 'node:fs';
import { CheckoutError } from '../errors.ts';
import { promisorRemotes } from '../fetch/promised.ts';
import { processEnvironment } from '../gitdir/environment.ts';
import type { Repository } from '../gitdir/repository.ts';
import { EXTENDED_FLAG, type IndexTable } from '../index/index-table.ts';
import { readWholeIndex } from '../index/read-whole-index.ts';
import { hasSparseDirectories } from '../index/sparse-index.ts';
import { redactor } from '../fetch/redact.ts';
import { withLfsStorage } from '../fetch/lfs-download.ts';
import type { PlanReason } from '../plan/plan.ts';
import { resolveRef } from '../refs/read-refs.ts';
import type { Report } from '../report/report.ts';
import type { CheckoutRequest } from '../settings.ts';
import { cleanByGit } from './git-clean.ts';
import { gitFailure } from './git-failure.ts';
import { removeLeftPointers } from './left-pointers.ts';
import { lfsFacts } from './lfs.ts';
import { NOTHING, type Totals, report } from './run-state.ts';
import { DEFAULT_PLANNED_FILES, type Session, planFor } from './session.ts';

/** Hands the checkout to `git checkout`, with the workers that our plan would use. */
export async function checkoutByGit(session: Session, routeReasons: readonly PlanReason[]): Promise<Report> {
  const { request, repository, config, ports, run } = session;
  run.engine = 'git';
  run.plan = planFor(session, DEFAULT_PLANNED_FILES, routeReasons);
  if (request.verify === true) {
    const why = routeReasons.map(({ text }) => text).join('; ');
    throw new CheckoutError('unsupported', `git does not verify the objects that it checks out (${why})`, {
      option: 'verify',
    });
  }
  for (const { text } of routeReasons) {
    const reason = text.replace(/^git(: |, )/, '');
    ports.observer.info(`checkout by git: ${reason}`);
    run.fallbacks.push({ stage: 'checkout', reason });
  }
  if (request.engine === 'git') run.fallbacks = run.fallbacks.filter(({ stage }) => stage !== 'checkout');
  const fresh = !existsSync(repository.indexPath);
  const before = indexOrNothing(repository);
  const started = performance.now();
  if (request.clean !== undefined) await cleanByGit(session, request.clean);
  if (request.sparse?.kind === 'off') await endSparseByGit(session);
  const redact = redactor(request.fetchEnv);
  // git then fetches what is missing, one file after the other, and git-lfs what it has not.
  const fetches = request.lfs !== undefined || promisorRemotes(config, processEnvironment()).length > 0;
  const result = await withDownloads(session, before, async (options) =>
    ports.git({
      args: [
        ...repository.gitOptions,
        ...options,
        '-c',
        `checkout.workers=${Math.max(1, run.plan.workers)}`,
        'checkout',
        '--quiet',
        '--force',
        ...targetArguments(request),
        '--',
      ],
      cwd: repository.workTree,
      ...(fetches ? { env: request.fetchEnv ?? {} } : {}),
      ...(request.lfs === undefined ? {} : { onStderrLine: (line: string) => ports.observer.info(redact(line)) }),
      ...(request.signal === undefined ? {} : { signal: request.signal }),
    }),
  );
  run.phases.push({ name: 'git-checkout', ms: performance.now() - started });
  if (request.signal?.aborted === true) throw new CheckoutError('interrupted', 'interrupted while git checked out');
  if (result.exitCode !== 0) throw gitFailure('checkout', redact(result.stderr));
  run.commit = resolveRef(repository, 'HEAD')?.oid ?? null;
  const after = indexOrNothing(repository);
  if (after !== null && (fresh || before !== null)) return report(run, compareIndexes(before, after), [], []);
  // An index that we cannot read: of a fresh tree all is written, of another one nothing is known.
  const totals = fresh ? await countTracked(session) : NOTHING;
  return report(run, totals, [], []);
}

/** Runs the checkout so that git-lfs may download, file by file or as it likes, where that is asked for. */
async function withDownloads<Result>(
  session: Session,
  index: IndexTable | null,
  work: (options: readonly string[]) => Promise<Result>,
): Promise<Result> {
  const { lfs } = session.request;
  if (lfs === undefined) return await work([]);
  const facts = lfsFacts(session, lfs);
  if (index !== null && !facts.store.skip) removeLeftPointers(index, session.repository.workTree);
  // No lock is held.
  return await withLfsStorage({ store: facts.store, alone: false }, work);
}

/** `git sparse-checkout disable`, where there is something to end: `git checkout` would not write what was left out. */
async function endSparseByGit({ request, repository, config, ports }: Session): Promise<void> {
  const index = existsSync(repository.indexPath) ? indexOrNothing(repository) : undefined;
  const skipping =
    index === null ||
    index?.extendedFlags.some((flags) => (flags & EXTENDED_FLAG.skipWorktree) !== 0) === true ||
    config.getBool('core.sparseCheckout') === true;
  if (!skipping) return;
  const result = await ports.git({
    args: [...repository.gitOptions, 'sparse-checkout', 'disable'],
    cwd: repository.workTree,
    ...(request.signal === undefined ? {} : { signal: request.signal }),
  });
  if (result.exitCode !== 0) throw gitFailure('sparse-checkout', result.stderr);
}

function targetArguments({ target }: CheckoutRequest): string[] {
  switch (target.kind) {
    case 'head':
      return [];
    case 'revision':
      return [target.revision];
    case 'branch':
      return ['-B', target.branch, target.startPoint];
    case 'detach':
      return ['--detach', target.revision];
  }
}

/** The index for counting only: one that we cannot read, or that has directories for files, counts as none. */
function indexOrNothing(repository: Repository): IndexTable | null {
  try {
    const index = readWholeIndex(repository, null);
    return index === null || hasSparseDirectories(index) ? null : index;
  } catch (error) {
    if (error instanceof CheckoutError) return null;
    throw error;
  }
}

/** Counts what git wrote into an empty working tree, where the index is of a kind that we cannot read. */
async function countTracked({ repository, ports }: Session): Promise<Totals> {
  const result = await ports.git({ args: [...repository.gitOptions, 'ls-files', '-z'], cwd: repository.workTree });
  const files = result.stdout.reduce((count, byte) => (byte === 0 ? count + 1 : count), 0);
  return { ...NOTHING, files };
}

/** Counts what git wrote: entries whose file is another one than before (inode, time or size). */
function compareIndexes(before: IndexTable | null, after: IndexTable | null): Totals {
  let files = 0;
  let bytesWritten = 0;
  let kept = 0;
  let excluded = 0;
  let old = 0;
  const count = after?.count ?? 0;
  const oldCount = before?.count ?? 0;
  let matched = 0;
  const path = (index: IndexTable, at: number): Uint8Array =>
    index.pathBytes.subarray(index.pathOffsets[at] ?? 0, index.pathOffsets[at + 1] ?? 0);
  for (let entry = 0; after !== null && entry < count; entry++) {
    while (before !== null && old < oldCount && Buffer.compare(path(before, old), path(after, entry)) < 0) old++;
    const known = before !== null && old < oldCount && Buffer.compare(path(before, old), path(after, entry)) === 0;
    if (known) matched++;
    const same =
      known && [0, 1, 2, 3, 5, 9].every((word) => before.stats[10 * old + word] === after.stats[10 * entry + word]);
    if (((after.extendedFlags[entry] ?? 0) & EXTENDED_FLAG.skipWorktree) !== 0) excluded++;
    else if (same) kept++;
    else if (after.stats[10 * entry + 2] !== 0) {
      files++;
      bytesWritten += after.stats[10 * entry + 9] ?? 0;
    }
  }
  return { files, kept, excluded, removed: oldCount - matched, cleaned: 0, bytesWritten };
}
