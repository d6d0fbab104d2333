/**
 * What `git checkout --force REVISION` would do with a name: which commit it means, and whether HEAD follows a branch.
 * The everyday forms (object id, HEAD, branch, tag, full ref) are answered from the ref files; the rest of
 * gitrevisions(7) is asked from git.
 */
import type { Config } from '../config/config.ts';
import { CheckoutError } from '../errors.ts';
import { isHexOid, type ObjectFormat } from '../oid.ts';
import type { GitProcess } from '../settings.ts';
import {
  candidateNames,
  displayName,
  isValidBranchName,
  isValidRefName,
  type RefDirs,
  unknownRevision,
} from './ref-names.ts';
import { packedRefsOnce, refExists, resolveRef } from './read-refs.ts';
import { trackingRefsOf } from './remote-tracking.ts';

/** A revision that was found. Ids are in hexadecimal; a tag is not peeled unless git was asked. */
export type ResolvedRevision =
  /** 'HEAD' was asked for: HEAD stays as it is. */
  | { readonly kind: 'head'; readonly oid: string }
  /** A local branch. `trackingRef` is set when the branch does not exist yet and starts at that remote-tracking ref. */
  | { readonly kind: 'branch'; readonly oid: string; readonly refName: string; readonly trackingRef?: string }
  /** Any other commit. `refName` is the ref that the name stands for, symbolic refs followed; null for none. */
  | { readonly kind: 'detached'; readonly oid: string; readonly refName: string | null };

export interface RevisionFacts {
  readonly dirs: RefDirs;
  readonly objectFormat: ObjectFormat;
  readonly config: Config;
  readonly git: GitProcess;
  /** Options that name the repository (Repository.gitOptions). */
  readonly gitOptions: readonly string[];
  readonly cwd: string;
  readonly signal?: AbortSignal | undefined;
}

/** Longest text that is taken for a revision; an argument beyond it is a mistake. */
const MAX_REVISION_LENGTH = 8192;

/**
 * Resolves as `git checkout --force TEXT` does: a local branch comes first, then git's order of short names, then
 * everything else that git knows, then a branch that exactly one remote has (checkout.guess).
 *
 * @throws CheckoutError 'unknown-revision'; 'usage' for text that looks like an option
 */
export async function resolveCheckoutRevision(facts: RevisionFacts, text: string): Promise<ResolvedRevision> {
  const { dirs } = facts;
  checkText(text);
  if (text === 'HEAD' && !refExists(dirs, 'refs/heads/HEAD')) {
    const oid = resolveRef(dirs, 'HEAD')?.oid ?? null;
    if (oid === null) throw unknownRevision('HEAD', 'has no commit yet');
    return { kind: 'head', oid };
  }
  const branch = await branchFor(facts, text);
  if (branch !== null) return branch;
  try {
    return { kind: 'detached', ...(await resolveRevision(facts, text)) };
  } catch (error) {
    const guess = error instanceof CheckoutError && error.code === 'unknown-revision' ? guessBranch(facts, text) : null;
    if (guess === null) throw error;
    return guess;
  }
}

/**
 * Resolves a revision to an object id, without a thought for branches (start points, `--detach`).
 *
 * @returns the id, and the ref that the name stands for: what the upstream of a branch that starts there is found by
 * @throws CheckoutError 'unknown-revision'; 'usage' for text that looks like an option
 */
export async function resolveRevision(
  facts: RevisionFacts,
  text: string,
): Promise<{ readonly oid: string; readonly refName: string | null }> {
  const { dirs } = facts;
  checkText(text);
  // A full id is itself even where a ref has this name. 40 digits are the beginning of one where ids have 64.
  if (isHexOid(text, facts.objectFormat)) return { oid: text.toLowerCase(), refName: null };
  if (isValidRefName(text)) {
    const packed = packedRefsOnce(dirs);
    for (const name of candidateNames(text)) {
      const found = isValidRefName(name) ? resolveRef(dirs, name, packed) : null;
      if (found !== null && found.oid !== null) return { oid: found.oid, refName: found.name };
    }
    if (text === 'HEAD') throw unknownRevision('HEAD', 'has no commit yet');
  }
  return { oid: await askGit(facts, text), refName: null };
}

function checkText(text: string): void {
  if (text === '') throw unknownRevision(text, 'is no revision: it is empty');
  if (text.length > MAX_REVISION_LENGTH || text.includes('\0') || text.includes('\n')) {
    throw unknownRevision(text, 'is no revision');
  }
  if (text.startsWith('-') && text !== '-') {
    throw new CheckoutError('usage', `'${displayName(text)}' is an option, not a revision`, {
      option: displayName(text),
    });
  }
}

/** The local branch that `text` names: literally, or as one of git's `@{-1}` forms. */
async function branchFor(facts: RevisionFacts, text: string): Promise<ResolvedRevision | null> {
  let refName = isValidBranchName(text) || text === 'HEAD' ? `refs/heads/${text}` : null;
  if (text === '-' || text.includes('@{')) {
    const answer = await run(facts, ['rev-parse', '--symbolic-full-name', '--verify', '--quiet', fullForm(text)]);
    refName = answer?.startsWith('refs/heads/') === true && isValidRefName(answer) ? answer : null;
  }
  if (refName === null) return null;
  const oid = resolveRef(facts.dirs, refName)?.oid ?? null;
  return oid === null ? null : { kind: 'branch', oid, refName };
}

/** A branch that does not exist here, but at one remote, or at the one that checkout.defaultRemote names. */
function guessBranch({ config, dirs }: RevisionFacts, text: string): ResolvedRevision | null {
  if (!isValidBranchName(text) || config.getBool('checkout.guess') === false) return null;
  const found = trackingRefsOf(config, text).flatMap(({ remote, ref }) => {
    const oid = isValidRefName(ref) ? (resolveRef(dirs, ref)?.oid ?? null) : null;
    return oid === null ? [] : [{ remote, ref, oid }];
  });
  const preferred = config.get('checkout.defaultRemote');
  const one = found.length > 1 ? found.find(({ remote }) => remote === preferred) : found[0];
  if (one === undefined) {
    if (found.length === 0) return null;
    const remotes = found.map(({ remote }) => displayName(remote)).join(', ');
    throw unknownRevision(text, `could be a branch of several remotes (${remotes}): set checkout.defaultRemote`);
  }
  return { kind: 'branch', oid: one.oid, refName: `refs/heads/${text}`, trackingRef: one.ref };
}

const fullForm = (text: string): string => (text === '-' ? '@{-1}' : text);

async function askGit(facts: RevisionFacts, text: string): Promise<string> {
  const ends = /^([^:]*?)\.\.\.([^:]*)$/.exec(text);
  if (ends !== null) {
    // `git checkout A...B` means their merge base, when there is exactly one.
    const both = [ends[1]!, ends[2]!].map((end) => (end === '' ? 'HEAD' : end));
    const bases = (await run(facts, ['merge-base', '--all', '--', ...both]))?.split('\n') ?? [];
    if (bases.length !== 1) throw unknownRevision(text, 'has no merge base, or more than one');
    return objectId(facts, text, bases[0]!);
  }
  // After ':/' everything is the text to search for.
  const expression = text.startsWith(':/') ? text : `${fullForm(text)}^{commit}`;
  const answer = await run(facts, ['rev-parse', '--verify', '--quiet', expression]);
  if (answer === null) throw unknownRevision(text);
  return objectId(facts, text, answer);
}

function objectId({ objectFormat }: RevisionFacts, text: string, answer: string): string {
  if (!isHexOid(answer, objectFormat)) throw unknownRevision(text);
  return answer;
}

/** What git prints, or null when it fails or prints nothing. */
async function run(facts: RevisionFacts, args: readonly string[]): Promise<string | null> {
  const { signal } = facts;
  const result = await facts.git({
    args: [...facts.gitOptions, ...args],
    cwd: facts.cwd,
    env: { LC_ALL: 'C' },
    ...(signal === undefined ? {} : { signal }),
  });
  const text = result.stdout.toString('utf8').trimEnd();
  return result.exitCode === 0 && text !== '' ? text : null;
}
