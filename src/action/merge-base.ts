/**
 * `fetch-depth: merge-base`: as little history as `git diff BASE...HEAD` needs. What BASE is follows from the event; how much
 * history that takes nobody knows beforehand, so it is fetched in steps, until what git finds in it is what it would find
 * in all of it. docs/decisions/merge-base.md.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CheckoutError } from '../engine/errors.ts';
import type { CheckoutRequest, FetchOutcome, FetchRequest, GitProcess } from '../engine/settings.ts';
import { member } from './event.ts';
import { gitFailure, gitText } from './git.ts';
import { exactRefspecs, invalidRefName, isObjectId, type RefForm } from './ref.ts';

/** The first step where the event does not tell more: twenty commits cost little, and most branches have fewer. */
const FIRST_DEPTH = 16;

/** How a step compares with the one before. Measured in docs/decisions/merge-base.md. */
const GROWTH = 4;

/** The last step before all history: 16 * 4^5. What is further back is rarer than histories with nothing in common. */
const LAST_DEPTH = 16_384;

/** What the event says of the other side of the comparison. */
export interface ComparisonBase {
  /** The branch or commit; null for the server's default branch. */
  readonly form: RefForm | null;
  /** Commits of history for the first step. */
  readonly firstDepth: number;
  /**
   * Where GitHub's test merge of a pull request is checked out: the commit of the pull request that it must have for its second
   * parent. Its first is the base.
   */
  readonly testMergeOf: string | null;
}

function branch(name: unknown): RefForm | null {
  if (typeof name !== 'string') return null;
  const short = name.replace(/^refs\/heads\//, '');
  return invalidRefName(short) === null ? { kind: 'branch', name: short, commit: '' } : null;
}

function commit(id: unknown): RefForm | null {
  // All zeros: the branch was not there before.
  return typeof id === 'string' && isObjectId(id) && !/^0+$/.test(id) ? { kind: 'commit', commit: id } : null;
}

function depthFor(commits: unknown): number {
  const count = typeof commits === 'number' && Number.isSafeInteger(commits) ? commits : 0;
  // The commits, a merge of them, and what they were made on.
  return Math.min(Math.max(count + 2, FIRST_DEPTH), LAST_DEPTH);
}

/**
 * The other side for a checkout of `head` (null: the default branch). Pure. `event` is the payload of the event, or undefined where
 * it is about another repository than the one that is checked out.
 */
export function comparisonBase(event: unknown, head: RefForm | null): ComparisonBase {
  const pull = member(event, 'pull_request');
  const base = branch(member(pull, 'base', 'ref'));
  if (base !== null) {
    const tip = member(pull, 'head', 'sha');
    const isTestMerge = head?.kind === 'pull' && /^\d+\/merge$/.test(head.name);
    return {
      form: base,
      firstDepth: depthFor(member(pull, 'commits')),
      testMergeOf: isTestMerge && typeof tip === 'string' && isObjectId(tip) ? tip.toLowerCase() : null,
    };
  }
  const pushed = member(event, 'commits');
  const form = commit(member(event, 'merge_group', 'base_sha')) ?? commit(member(event, 'before'));
  return {
    form: form ?? branch(member(event, 'repository', 'default_branch')),
    firstDepth: depthFor(Array.isArray(pushed) ? pushed.length : 0),
    testMergeOf: null,
  };
}

/** What a base is called in messages and on git's command line, once it has been fetched. */
function revisionOf(form: RefForm): string {
  if (form.kind === 'commit') return form.commit;
  return form.kind === 'branch' ? `refs/remotes/origin/${form.name}` : form.name;
}

/** The refspecs of both sides; where both have the same destination, the one that is checked out. Pure. */
export function refspecsWithBase(specs: readonly string[], base: RefForm): string[] {
  const destination = (spec: string): string => spec.slice(spec.indexOf(':') + 1);
  const taken = new Set(specs.map(destination));
  return [...specs, ...exactRefspecs(base).filter((spec) => !taken.has(destination(spec)))];
}

/** What the steps need of the outside. */
export interface HistoryFetch {
  readonly base: ComparisonBase;
  /** What is checked out, fetched by `refspecs`. */
  readonly head: { readonly revision: string; readonly refspecs: readonly string[] };
  readonly gitDir: string;
  /** In the repository. */
  readonly git: GitProcess;
  readonly fetch: (what: Pick<FetchRequest, 'refspecs' | 'depth' | 'unshallow' | 'ahead'>) => Promise<FetchOutcome>;
  /** What may be checked out while the first step is on its way. */
  readonly ahead: CheckoutRequest;
  readonly defaultBranch: () => Promise<RefForm>;
  readonly info: (line: string) => void;
  readonly warn: (line: string) => void;
}

/**
 * Fetches what is checked out, the base, and their history back to the merge base. Throws as a fetch does; a history that
 * has no merge base is a warning.
 */
export async function fetchToMergeBase(request: HistoryFetch): Promise<FetchOutcome> {
  const outcomes: FetchOutcome[] = [];
  try {
    await fetchSteps(request, outcomes);
  } catch (error) {
    await outcomes[0]?.begun?.abandon();
    throw error;
  }
  // Of what the first has begun nothing is lost by the others.
  return { ...outcomes[0]!, ms: outcomes.reduce((total, { ms }) => total + ms, 0) };
}

async function fetchSteps(request: HistoryFetch, outcomes: FetchOutcome[]): Promise<void> {
  const { base, head, ahead } = request;
  if (base.testMergeOf !== null) {
    outcomes.push(await request.fetch({ refspecs: head.refspecs, depth: 2, ahead }));
    if (await takeBaseFromTestMerge(request, base.testMergeOf)) return;
  }
  let form = base.form ?? (await request.defaultBranch());
  let depth = base.firstDepth;
  const begin = async (): Promise<void> => {
    const refspecs = refspecsWithBase(head.refspecs, form);
    outcomes.push(await request.fetch({ depth, refspecs, ...(outcomes.length === 0 ? { ahead } : {}) }));
  };
  try {
    await begin();
  } catch (error) {
    const isBaseMissing =
      error instanceof CheckoutError &&
      error.code === 'unknown-revision' &&
      error.message.includes(form.kind === 'commit' ? form.commit : `refs/heads/${revisionName(form)}`);
    if (!isBaseMissing || base.form === null) throw error;
    // Of a force push the commit before may be gone, and a base branch may be deleted.
    const other = await request.defaultBranch();
    request.warn(`${named(form)} is no longer there to compare with; taking ${named(other)}`);
    form = other;
    await begin();
  }

  // Of what a ref has already, git asks for no more history while another ref is new (seen with 2.39.5). So the later steps name the
  // commits, which also holds both sides where they were.
  const tips = await objectIds(request.git, [revisionOf(form), head.revision]);
  let all = false;
  for (;;) {
    const { bases, isFinal } = await mergeBases(request, tips);
    if (isFinal || all) {
      if (bases.length === 0) request.warn(`what is checked out has no commit in common with ${named(form)}`);
      return;
    }
    all = depth >= LAST_DEPTH;
    if (all) {
      request.warn(`the merge base with ${named(form)} is not among the last ${depth} commits: all history is fetched`);
      outcomes.push(await request.fetch({ unshallow: true, refspecs: tips }));
    } else {
      depth = Math.min(depth * GROWTH, LAST_DEPTH);
      outcomes.push(await request.fetch({ depth, refspecs: tips }));
    }
  }
}

function revisionName(form: RefForm): string {
  return form.kind === 'commit' ? form.commit : form.name;
}

function named(form: RefForm): string {
  return form.kind === 'commit' ? `commit ${form.commit}` : `'${form.name}'`;
}

/**
 * The test merge has the base for its first parent, so that is where the base branch's tracking ref goes: as the merge saw
 * the branch, wherever it is by now. False where the commit is not that merge.
 */
async function takeBaseFromTestMerge(request: HistoryFetch, pullHead: string): Promise<boolean> {
  const { git, head, base } = request;
  const { exitCode, stdout } = await git({ args: ['rev-parse', '-q', `${head.revision}^1`, `${head.revision}^2`] });
  const [first, second] = stdout.toString('latin1').trim().split('\n');
  if (exitCode !== 0 || first === undefined || second !== pullHead || base.form?.kind !== 'branch') return false;
  const ref = revisionOf(base.form);
  const args = ['update-ref', '-m', 'fetch: first parent of the merge', ref, first];
  await gitText(git, { args }, `cannot set '${ref}'`);
  request.info(`'origin/${base.form.name}' is the base of the pull request's merge commit, ${first}`);
  return true;
}

/** What git finds in the history at hand, and whether it would find the same in all of it. */
interface MergeBases {
  /** None where the tips have no commit in common. */
  readonly bases: readonly string[];
  /**
   * True where between the tips and the merge bases no history is cut off. Else a way that cannot be seen may lead to a commit that is
   * a better one.
   */
  readonly isFinal: boolean;
}

async function mergeBases({ git, gitDir }: HistoryFetch, tips: readonly string[]): Promise<MergeBases> {
  const result = await git({ args: ['merge-base', '--all', ...tips] });
  if (result.exitCode > 1) throw gitFailure('cannot look for the merge base', result);
  const bases = lines(result.stdout.toString('latin1'));
  // A tip that the other side has in its history: nothing can be better.
  if (bases.some((base) => tips.includes(base)) || !existsSync(join(gitDir, 'shallow')))
    return { bases, isFinal: true };
  const cut = new Set(lines(readFileSync(join(gitDir, 'shallow'), 'latin1')));
  const args = ['rev-list', ...tips, ...bases.map((base) => `^${base}`)];
  const between = lines(await gitText(git, { args }, 'cannot list the commits since the merge base'));
  return { bases, isFinal: !between.some((id) => cut.has(id)) };
}

function lines(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}

async function objectIds(git: GitProcess, revisions: readonly string[]): Promise<string[]> {
  const args = ['rev-parse', ...revisions.map((revision) => `${revision}^{commit}`)];
  return lines(await gitText(git, { args }, 'cannot look up what was fetched'));
}
