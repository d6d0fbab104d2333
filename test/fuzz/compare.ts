/**
 * Holds what was seen of our copy against git's. What docs/shortcomings.md lists under “Other than git” is known here, as
 * narrowly as can be said, and nothing else.
 */
import { ASPECTS, type Aspect, type Seen } from './look.ts';
import { COMMITS, contentBytes, treeOf, type Case, type Step } from './model.ts';

/** How a checkout ended: git's exit status, ours in the same terms. */
export interface Ending {
  /** 0; 1 when some files failed and the rest is done; 128 when nothing was done. */
  readonly status: 0 | 1 | 128;
  readonly text: string;
}

export interface Outcome {
  readonly ending: Ending;
  readonly seen: Seen;
  readonly engine: 'native' | 'git';
}

/** One line for each difference; empty when there is none. */
export function compareOutcomes(one: Case, step: Step, git: Outcome, ours: Outcome): string[] {
  const lines: string[] = [];
  if (git.ending.status !== ours.ending.status) {
    lines.push(`exit: git ${git.ending.status} (${git.ending.text}), ours ${ours.ending.status} (${ours.ending.text})`);
  }
  const isKnown = ours.engine === 'git' ? () => false : knownDifferences(one, step, git, ours);
  for (const aspect of ASPECTS) {
    const expected = git.seen[aspect];
    const actual = ours.seen[aspect];
    for (const path of new Set([...expected.keys(), ...actual.keys()])) {
      const [theirs, mine] = [expected.get(path) ?? 'nothing', actual.get(path) ?? 'nothing'];
      if (theirs !== mine && !isKnown(aspect, path, mine)) {
        lines.push(`${aspect}: ${JSON.stringify(path)}: git ${theirs}, ours ${mine}`);
      }
    }
  }
  return lines.length > 20 ? [...lines.slice(0, 20), `… ${lines.length - 20} more`] : lines;
}

function knownDifferences(
  one: Case,
  step: Step,
  git: Outcome,
  ours: Outcome,
): (aspect: Aspect, name: string, mine: string) => boolean {
  const blobs = Array.from({ length: COMMITS }, (_, commit) => treeOf(one, commit));

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
  const isRacy = (path: string): boolean => step.indexTime !== 'young' && isConverted(path);

  return (aspect, name, mine) => {
    switch (aspect) {
      case 'index':
        // "Index version 2 is written", and of the extensions only the cache tree.
        return name === 'version' ? mine === '2' : name !== 'TREE' && mine === 'nothing';
      case 'files':
      case 'rewritten':
        return isRacy(name);
      case 'stat':
        return isRacy(name.slice(0, -2));
      case 'status':
        return / M|^$/.test(name.slice(0, 2)) && isRacy(name.slice(3));
      case 'entries':
      case 'repository':
        return false;
    }
  };
}
