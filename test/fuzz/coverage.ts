/**
 * What the cases of a run had in them: without it nobody would notice that a fuzzer has come to make empty trees only.
 */
import { treeOf, type Case } from './model.ts';
import type { CaseResult } from './run-case.ts';

/** By name, whether a case has the feature. */
const FEATURES: Readonly<Record<string, (one: Case) => boolean>> = {
  'a tree of 5 files or more': (one) => treeOf(one, 1).size >= 5,
  'a tree of 65 files or more': (one) => treeOf(one, 1).size >= 65,
  links: (one) => hasEntry(one, 'link'),
  gitlinks: (one) => hasEntry(one, 'gitlink'),
  'file and directory swap': swaps,
  'bytes outside of ASCII in a path': (one) => one.slots.some(({ path }) => /[^ -~]/.test(path)),
  'large or many contents': (one) => /"(repeat|random|words)":/.test(JSON.stringify(one.slots)),
  attributes: (one) => one.slots.some(({ path }) => path.endsWith('.gitattributes')) || one.infoAttributes.length > 0,
  'attribute eol or text': (one) => /(text|eol|crlf)/.test(attributesOf(one)),
  'attribute ident': (one) => attributesOf(one).includes('ident'),
  'attribute filter': (one) => attributesOf(one).includes('filter'),
  'long-running filter process': (one) => Object.keys(one.config).some((key) => key.endsWith('.process')),
  'attribute working-tree-encoding': (one) => attributesOf(one).includes('working-tree-encoding'),
  configuration: (one) => Object.keys(one.config).length > 0,
  'core.autocrlf or core.eol': (one) => 'core.autocrlf' in one.config || 'core.eol' in one.config,
  sha256: (one) => one.hash === 'sha256',
  'loose objects': (one) => one.storage.packs === 'loose',
  'several packs': (one) => one.storage.packs === 'several',
  'ref deltas': (one) => one.storage.then.includes('repack-ref-deltas'),
  'pack index version 1': (one) => one.storage.then.includes('repack-index-v1'),
  'multi-pack index': (one) => one.storage.then.includes('midx'),
  alternates: (one) => one.storage.then.includes('alternates'),
  'replace ref': (one) => one.storage.replace !== null,
  'missing object': (one) => one.storage.missing !== null,
  'partial clone': (one) => one.storage.promisor === true,
  'odd tree': (one) => one.oddTree !== undefined,
  "the user's attributes": (one) => one.globalAttributes !== undefined,
  hooks: (one) => one.hooks !== undefined,
  'begins with nothing': (one) => one.start === null,
  'dirty working tree': (one) => dirts(one).some((name) => !INDEX_DIRT.has(name)),
  'changed index': (one) => dirts(one).some((name) => INDEX_DIRT.has(name)),
  'unmerged index': (one) => dirts(one).includes('unmerged'),
  'index entries with flags': (one) => dirts(one).includes('flag'),
  'other index form': (one) =>
    dirts(one).includes('index') || 'index.version' in one.config || 'core.splitIndex' in one.config,
  'sparse checkout': (one) => dirts(one).includes('sparse'),
  'racy index': (one) => one.steps.some(({ indexTime }) => indexTime === 'old'),
  'worker threads': (one) => one.steps.some(({ workers }) => workers > 0),
  clean: (one) => one.steps.some((step) => step.clean !== undefined),
  'two steps': (one) => one.steps.length > 1,
};

const INDEX_DIRT = new Set(['unmerged', 'add', 'uncache', 'flag', 'stat', 'index', 'sparse', 'state']);

function dirts(one: Case): string[] {
  return one.steps.flatMap((step) => step.dirt.map((dirt) => dirt.do));
}

function hasEntry(one: Case, kind: string): boolean {
  return [...treeOf(one, 1).values(), ...treeOf(one, 2).values()].some((entry) => entry.kind === kind);
}

function attributesOf(one: Case): string {
  return JSON.stringify([one.slots.filter(({ path }) => path.endsWith('.gitattributes')), one.infoAttributes]);
}

function swaps(one: Case): boolean {
  const [first, second] = [treeOf(one, 0), treeOf(one, 1)];
  return [...first.keys()].some((path) =>
    [...second.keys()].some((other) => other.startsWith(`${path}/`) || path.startsWith(`${other}/`)),
  );
}

export class Coverage {
  private readonly counts = new Map<string, { cases: number; native: number }>();
  private readonly reasons = new Map<string, number>();
  cases = 0;
  native = 0;
  failedByBoth = 0;
  threads = 0;
  unsteady = 0;
  byGitsWorkers = 0;

  add(one: Case, result: CaseResult): void {
    this.cases++;
    const native = result.engines.every((engine) => engine === 'native');
    if (native) this.native++;
    if (result.endings.some((ending) => ending.failed)) this.failedByBoth++;
    this.threads += result.threads;
    if (result.unsteady === true) this.unsteady++;
    if (result.byGitsWorkers === true) this.byGitsWorkers++;
    for (const reason of new Set(result.fallbacks)) {
      // Without the names in it.
      const kind = reason.replace(/'.*'/s, "'…'");
      this.reasons.set(kind, (this.reasons.get(kind) ?? 0) + 1);
    }
    for (const [name, has] of Object.entries(FEATURES)) {
      const count = this.counts.get(name) ?? { cases: 0, native: 0 };
      if (has(one)) {
        count.cases++;
        if (native) count.native++;
      }
      this.counts.set(name, count);
    }
  }

  /** Share of the cases that had each feature, and of those the share that our engine did itself. */
  text(): string {
    const percent = (part: number, whole: number): string =>
      whole === 0 ? '-' : `${((100 * part) / whole).toFixed(0)} %`;
    const lines = [...this.counts].map(
      ([name, { cases, native }]) =>
        `  ${name.padEnd(36)} ${percent(cases, this.cases).padStart(6)} ${percent(native, cases).padStart(8)}`,
    );
    const reasons = [...this.reasons]
      .sort(([, a], [, b]) => b - a)
      .map(([reason, count]) => `  ${String(count).padStart(6)}  ${reason}`);
    return [
      `${this.cases} cases, ${percent(this.native, this.cases)} native in all of their steps; in ${this.failedByBoth} a checkout failed in both; ${this.threads} threads; ${this.unsteady} differed once only, ${this.byGitsWorkers} from git with several workers only`,
      `  ${'feature'.padEnd(36)} ${'cases'.padStart(6)} ${'native'.padStart(8)}`,
      ...lines,
      ...(reasons.length === 0 ? [] : ['  cases that git did, by reason:', ...reasons]),
    ].join('\n');
  }
}
