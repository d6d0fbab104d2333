/**
 * Lists of CPUs as the kernel writes them ('0-3,8,10-11'). A process may be allowed CPUs that are not online, so the
 * number that it can use is the size of the intersection.
 */

type CpuRange = readonly [first: number, last: number];

/** Parses a list; null when the text is not one. An empty list has no ranges. */
export function parseCpuList(text: string): readonly CpuRange[] | null {
  const trimmed = text.trim();
  if (trimmed === '') return [];
  const ranges: CpuRange[] = [];
  for (const part of trimmed.split(',')) {
    const match = /^(\d+)(?:-(\d+))?$/.exec(part);
    if (match === null) return null;
    const first = Number(match[1]);
    const last = Number(match[2] ?? match[1]);
    if (last < first) return null;
    ranges.push([first, last]);
  }
  return ranges;
}

/** How many CPUs a list names. Ranges of one list do not overlap. */
export function countCpus(list: readonly CpuRange[]): number {
  return list.reduce((sum, [first, last]) => sum + last - first + 1, 0);
}

/** How many CPUs two lists have in common. */
export function countCommonCpus(a: readonly CpuRange[], b: readonly CpuRange[]): number {
  let sum = 0;
  for (const [aFirst, aLast] of a) {
    for (const [bFirst, bLast] of b) sum += Math.max(0, Math.min(aLast, bLast) - Math.max(aFirst, bFirst) + 1);
  }
  return sum;
}
