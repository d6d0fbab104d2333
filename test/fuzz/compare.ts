/**
 * Holds what was seen of our copy against git's. What docs/shortcomings.md lists under “Other than git” is known here, as
 * narrowly as can be said, and nothing else.
 */
import { ASPECTS, type Aspect, type Before, type Seen } from './look.ts';
import { COMMITS, contentBytes, oddBlobs, treeOf, type Case, type Step } from './model.ts';

/** How a checkout ended. How much was done when it failed shows in all the rest. */
export interface Ending {
  readonly failed: boolean;
  readonly text: string;
}

export interface Outcome {
  readonly ending: Ending;
  readonly before: Before;
  readonly seen: Seen;
  readonly engine: 'native' | 'git';
  /** Whether our engine did this step or one before. */
  readonly wasNative: boolean;
}

export interface Comparison {
  /** One line for each difference; empty when there is none. */
  readonly lines: readonly string[];
  /** Whether there were known ones in the working tree, from which others follow in the next step. */
  readonly parted: boolean;
}

export function compareOutcomes(one: Case, step: Step, git: Outcome, ours: Outcome): Comparison {
  const lines: string[] = [];
  let parted = false;
  // "A `working-tree-encoding` without a value" is refused before anything is touched, by git in the middle.
  if (ours.ending.failed && git.ending.failed && git.ending.text.includes('no valid working-tree-encodings')) {
    return { lines, parted: true };
  }
  // "Marked files of the index's own second": on the safe side.
  if (!git.ending.failed && ours.ending.text.startsWith('local-changes') && step.indexTime !== 'young') {
    return { lines, parted: true };
  }
  if (git.ending.failed !== ours.ending.failed) {
    const words = ({ failed, text }: Ending): string => (failed ? `failed (${text})` : 'succeeded');
    lines.push(`exit: git ${words(git.ending)}, ours ${words(ours.ending)}`);
  }
  const isKnown = ours.wasNative ? knownDifferences(one, step, git, ours) : () => false;
  for (const aspect of ASPECTS) {
    const expected = git.seen[aspect];
    const actual = ours.seen[aspect];
    for (const path of new Set([...expected.keys(), ...actual.keys()])) {
      const [theirs, mine] = [expected.get(path) ?? 'nothing', actual.get(path) ?? 'nothing'];
      if (theirs === mine) continue;
      if (!isKnown(aspect, path, theirs, mine))
        lines.push(`${aspect}: ${JSON.stringify(path)}: git ${theirs}, ours ${mine}`);
      else if (aspect !== 'index') parted = true;
    }
  }
  return { lines: lines.length > 20 ? [...lines.slice(0, 20), `… ${lines.length - 20} more`] : lines, parted };
}

function knownDifferences(
  one: Case,
  step: Step,
  git: Outcome,
  ours: Outcome,
): (aspect: Aspect, name: string, theirs: string, mine: string) => boolean {
  const blobs = Array.from({ length: COMMITS }, (_, commit) => treeOf(one, commit));
  for (const [path, content] of oddBlobs(one.oddTree ?? [])) blobs.push(new Map([[path, { kind: 'file', content }]]));

  /** Whether a file's blob is not what is on disk, or would be another one if it were added again. */
  const isConverted = (path: string): boolean =>
    blobs.some((tree) => {
      const entry = tree.get(path);
      if (entry?.kind === 'link') return entry.target.includes('\0');
      if (entry?.kind !== 'file') return false;
      const content = contentBytes(entry.content).toString('latin1');
      if (/\r|\$Id/.test(content)) return true;
      const shown = JSON.stringify(content);
      return [git, ours].some(({ seen }) => seen.files.get(path)?.endsWith(shown) !== true);
    });

  // "Files of the index's own second": git asks what blob they would become, ours what file the blob becomes.
  const isRacy = (path: string): boolean => {
    if (step.indexTime === 'young' || !isConverted(path)) return false;
    const smudged = git.seen.stat.get(`${path} 0`)?.includes('(size zero)') === true;
    return smudged || git.seen.rewritten.get(path) !== ours.seen.rewritten.get(path);
  };

  // "A directory that was moved, with a link in its place": git finds its files through the link, and loses them when
  // another one needs a directory there.
  const isBelowLink = (path: string): boolean => {
    for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) {
      if (git.before.links.has(path.slice(0, at))) return true;
    }
    // The link itself, where files may be of the index's own second: ours does not read them through it.
    if (step.indexTime === 'young' || !git.before.links.has(path)) return false;
    return blobs.some((tree) => [...tree.keys()].some((other) => other.startsWith(`${path}/`)));
  };

  // "A file in the place of a directory or submodule that leaves the sparse checkout": git leaves it out as well.
  const isSparse = one.steps.some(({ dirt }) => dirt.some((each) => each.do === 'sparse'));
  const wasLeftOut = (path: string): boolean => {
    if (!isSparse) return false;
    const [theirs, mine] = [git, ours].map(({ seen }) => seen.entries.get(`${path} 0`) ?? '');
    // A submodule's directory that is still there hides the mark when git lists its index.
    const isHidden = git.seen.files.get(path)?.startsWith('directory') === true && theirs?.startsWith('H 100') === true;
    if (!isHidden && theirs?.startsWith('S ') !== true) return false;
    return (
      mine?.startsWith('H 1') === true &&
      ours.seen.files.has(path) &&
      blobs.some(
        (tree) => tree.get(path)?.kind === 'gitlink' || [...tree.keys()].some((at) => at.startsWith(`${path}/`)),
      )
    );
  };
  // "A directory that cannot be made" and "Filter drivers" that are required and fail end both, at another place among the files.
  const isHalfway =
    git.ending.failed &&
    ours.ending.failed &&
    /^128 (fatal: cannot create directory at|error: external filter .* failed)/.test(git.ending.text);

  // "Cleaning": nothing is removed where the checkout cannot begin.
  const isUncleaned = git.ending.failed && ours.ending.failed && step.clean !== undefined;

  const pathOf = (aspect: Aspect, name: string): string =>
    aspect === 'status' ? name.slice(3) : aspect === 'stat' || aspect === 'entries' ? name.slice(0, -2) : name;

  return (aspect, name, theirs, mine) => {
    if (wasLeftOut(pathOf(aspect, name))) return true;
    const isOfFiles = aspect === 'files' || aspect === 'rewritten' || aspect === 'status';
    if (isOfFiles && (isHalfway || (isUncleaned && theirs === 'nothing'))) return true;
    switch (aspect) {
      case 'index':
        // "Index version 2 is written", and of the extensions only the cache tree.
        if (name === 'version') return mine === '2' || ours.engine === 'git' || git.seen.index.has('link');
        // git makes no cache tree where a blob is missing.
        if (name === 'TREE') return one.storage.missing !== null && mine !== 'nothing';
        return mine === 'nothing';
      case 'files':
        // Written anew by both, it is the same.
        return (
          (isRacy(name) && (git.seen.rewritten.get(name) === 'kept' || ours.seen.rewritten.get(name) === 'kept')) ||
          isBelowLink(name)
        );
      case 'rewritten':
        return isRacy(name) || isBelowLink(name);
      case 'stat':
        // "The entry of a file that could not be written has no stat data".
        if (ours.ending.failed && theirs === 'not on disk' && mine === 'all zero') return true;
        return isRacy(name.slice(0, -2)) || isBelowLink(name);
      case 'status':
        return (
          (name.startsWith(' M') && isRacy(name.slice(3))) || (/^( D|\?\?)/.test(name) && isBelowLink(name.slice(3)))
        );
      case 'entries':
      case 'repository':
        return false;
    }
  };
}
