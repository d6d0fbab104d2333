/**
 * Random cases. The alphabets are small, so that paths meet: a file where a directory was, names that sort before a slash
 * and after it, the same blob twice. First in each list is what a failing case shrinks to.
 */
import fc from 'fast-check';
import {
  COMMITS,
  type Case,
  type Content,
  type Dirt,
  type Entry,
  type OddEntry,
  type Slot,
  type Step,
  type Storage,
} from './model.ts';

/** Mostly the first; one time in `odds + 1` the other. */
function seldom<T, U>(usual: fc.Arbitrary<T>, odds: number, other: fc.Arbitrary<U>): fc.Arbitrary<T | U> {
  return fc.oneof({ withCrossShrink: true }, { weight: odds, arbitrary: usual }, { weight: 1, arbitrary: other });
}

// '-', '.', '0' sort before and after '/', which is where directories stand in the index.
const plainName = fc.constantFrom('a', 'b', 'c', 'a.b', 'a-b', 'a0', 'ab', 'x.txt', 'd');
const strangeName = fc.constantFrom(
  'B',
  'a b',
  '\xc3\xa9',
  'e\xcc\x81',
  '\xff\xfe',
  'a\tb',
  'a\nb',
  '"q"',
  'a\\b',
  '-d',
  '#h',
  '!n',
  ' ',
  '~',
  'f[1]',
  '*',
  '.a',
  '...',
  'git~2',
  'con',
  '.gitmodules',
  '.gitignore',
  '.gitx',
  'n'.repeat(200),
  'n'.repeat(255),
);
/** Names that git refuses, or that the file system does. */
const badName = fc.constantFrom('n'.repeat(256), '.GIT', 'git~1', '.git.', '.git ', 'a\\.git');
const name = seldom(seldom(plainName, 14, strangeName), 400, badName);
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
const deepPath = fc.integer({ min: 4, max: 60 }).map((depth) => Array.from({ length: depth }, () => 'd').join('/'));
const anyPath = seldom(path, 40, deepPath);

const text = fc.constantFrom(
  'x\n',
  'y\n',
  '',
  'x',
  'one\ntwo\n',
  'one\r\ntwo\r\n',
  'one\r\ntwo\n',
  'one\rtwo\n',
  'one\n\0two\n',
  '\n',
  '\r\n',
  '\r',
  '\r\r\n',
  '$Id$\n',
  '$Id: old $\n',
  '$Id: not closed\n$Id$',
  '$$Id$ $I$Id$\n',
  '$Idx$Id: foo $\n',
  '$Id:foo bar$\n',
  '$Id: a b $ $Id$\r\n',
  'h\xc3\xa9llo\n',
  'h\xe9llo\n',
  '\xef\xbb\xbfbom\n',
  '\x1b[0m\x01\x02\x03\n',
  '\xff\xfe\n\0',
  'end\n\x1a',
  '#!/bin/sh\n',
);
const bigContent: fc.Arbitrary<Content> = fc.oneof(
  { withCrossShrink: true },
  fc
    .record({ words: fc.integer({ min: 0, max: 2 }), size: fc.constantFrom(2000, 300, 20_000), version: fc.nat(9) })
    .map((value): Content => value),
  fc
    .record({
      repeat: fc.constantFrom('line\n', 'line\r\n', '\0', '$Id$\n', '\n', 'x', '\xc3\xa9\n'),
      times: fc.constantFrom(2000, 1, 16_383, 16_384, 65_537),
      end: fc.constantFrom('', 'x', '\n', '\r\n', '\0', '$Id$'),
    })
    .map((value): Content => value),
  fc
    .record({ random: fc.nat(3), size: fc.constantFrom(1000, 70_000, 300_000, 1_100_000) })
    .map((value): Content => value),
);
const content: fc.Arbitrary<Content> = seldom(
  fc.oneof(
    { withCrossShrink: true },
    { weight: 6, arbitrary: text },
    { weight: 2, arbitrary: fc.array(text, { maxLength: 4 }).map((parts) => parts.join('')) },
  ),
  9,
  bigContent,
);

const linkTarget = fc.constantFrom(
  'a',
  'b',
  'a/b',
  '..',
  '.',
  '../outside',
  '../outside/a',
  '../../outside',
  '/nowhere',
  'x\xff',
  '.git',
  '* text eol=crlf',
  'nul\0tail',
  't'.repeat(300),
);

const entry: fc.Arbitrary<Entry> = fc.oneof(
  { withCrossShrink: true },
  { weight: 24, arbitrary: content.map((value): Entry => ({ kind: 'file', content: value })) },
  { weight: 6, arbitrary: content.map((value): Entry => ({ kind: 'file', content: value, executable: true })) },
  { weight: 5, arbitrary: linkTarget.map((target): Entry => ({ kind: 'link', target })) },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 3 }).map((digit): Entry => ({ kind: 'gitlink', digit })) },
  {
    weight: 2,
    arbitrary: fc
      .record({ count: fc.constantFrom(3, 20, 90, 200), content: fc.constantFrom('f', 'g\n') })
      .map((value): Entry => ({ kind: 'many', ...value })),
  },
);

function versions(arbitrary: fc.Arbitrary<Entry>): fc.Arbitrary<Slot['versions']> {
  const later = fc.oneof(
    { withCrossShrink: true },
    { weight: 4, arbitrary: fc.constant('same' as const) },
    { weight: 3, arbitrary: arbitrary },
    { weight: 2, arbitrary: fc.constant(null) },
  );
  return fc
    .tuple(
      fc.oneof(
        { withCrossShrink: true },
        { weight: 4, arbitrary: arbitrary },
        { weight: 1, arbitrary: fc.constant(null) },
      ),
      ...Array.from({ length: COMMITS - 1 }, () => later),
    )
    .map((list) => list);
}

const slot = fc.record({ path: anyPath, versions: versions(entry) });

const pattern = fc.constantFrom(
  '*',
  'a',
  'b',
  'a*',
  '*.b',
  '*.txt',
  '/a',
  'a/b',
  'a/*',
  'a/**',
  '**/b',
  'a/**/b',
  '[ab]',
  '[!a]',
  'a?b',
  '"a b"',
  '"\\303\\251"',
  'a/',
  '!a',
  '# c',
  '\\*',
  '[[:alpha:]]',
  '**',
  '/',
  'A',
);
const plainAttribute = fc.constantFrom(
  'text',
  '-text',
  '!text',
  'text=auto',
  'text=input',
  'text=bogus',
  'eol=crlf',
  'eol=lf',
  '-eol',
  'eol',
  '!eol',
  'crlf',
  '-crlf',
  'crlf=input',
  'ident',
  '-ident',
  '!ident',
  'ident=x',
  'binary',
  '-binary',
  '!binary',
  'm',
  '-m',
  'n',
  'diff',
  '-a-',
  'text =',
);
const costlyAttribute = fc.constantFrom(
  'filter=long',
  'filter=delays',
  'filter=must',
  'filter=upper',
  'filter=fails',
  'filter=required',
  'filter=nothing',
  '-filter',
  'filter',
  'working-tree-encoding=UTF-16',
  'working-tree-encoding=UTF-16LE-BOM',
  'working-tree-encoding=utf8',
  'working-tree-encoding=latin-1',
  'working-tree-encoding=UTF-32BE',
  'working-tree-encoding=SHIFT-JIS',
  'working-tree-encoding=bogus',
  '-working-tree-encoding',
  'working-tree-encoding',
);
const attributeLine = fc.oneof(
  { withCrossShrink: true },
  {
    weight: 12,
    arbitrary: fc
      .tuple(pattern, fc.array(seldom(plainAttribute, 8, costlyAttribute), { minLength: 1, maxLength: 3 }))
      .map(([where, what]) => [where, ...what].join(' ')),
  },
  { weight: 1, arbitrary: fc.constantFrom('[attr]m text eol=crlf', '[attr]n -m ident', '[attr]m', '[attr]n binary') },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '',
      '\t* text',
      '* text\r',
      '\xef\xbb\xbf* text eol=crlf',
      '*\0 text',
      `* ${'m '.repeat(1100)}text`,
    ),
  },
);
const attributes: fc.Arbitrary<Entry> = fc.oneof(
  { withCrossShrink: true },
  {
    weight: 10,
    arbitrary: fc
      .array(attributeLine, { minLength: 1, maxLength: 4 })
      .map((lines): Entry => ({ kind: 'file', content: `${lines.join('\n')}\n` })),
  },
  { weight: 1, arbitrary: entry },
);
const attributeSlot = fc.record({
  path: fc.constantFrom(
    '.gitattributes',
    'a/.gitattributes',
    'b/.gitattributes',
    'a/b/.gitattributes',
    'd/d/.gitattributes',
  ),
  versions: versions(attributes),
});

/** Settings that change what a checkout does, each absent in most cases. */
const CONFIG: Readonly<Record<string, readonly string[]>> = {
  'core.autocrlf': ['true', 'input', 'false'],
  'core.eol': ['crlf', 'lf', 'native'],
  'core.fileMode': ['false'],
  'core.trustCtime': ['false'],
  'core.checkStat': ['minimal', 'default'],
  'core.protectNTFS': ['false'],
  'core.protectHFS': ['true'],
  'core.ignoreCase': ['true'],
  'core.untrackedCache': ['true', 'keep'],
  'core.logAllRefUpdates': ['false', 'always'],
  'core.safecrlf': ['true'],
  'core.bigFileThreshold': ['1k'],
  'core.preferSymlinkRefs': ['false'],
  'index.threads': ['2', 'true'],
  'feature.manyFiles': ['true'],
  'checkout.defaultRemote': ['origin'],
};
const COSTLY_CONFIG: Readonly<Record<string, readonly string[]>> = {
  'core.symlinks': ['false'],
  'core.ignoreStat': ['true'],
  'core.splitIndex': ['true', 'false'],
  'core.sharedRepository': ['group'],
  'index.version': ['4', '3', '2'],
};
const config = fc
  .record(
    Object.fromEntries(
      [
        ...Object.entries(CONFIG).map(([key, values]) => [key, values, 14] as const),
        ...Object.entries(COSTLY_CONFIG).map(([key, values]) => [key, values, 40] as const),
      ].map(([key, values, odds]) => [key, seldom(fc.constant(null), odds, fc.constantFrom(...values))]),
    ),
  )
  .map((settings) => {
    const set: Record<string, string> = {};
    for (const [key, value] of Object.entries(settings)) if (value !== null) set[key] = value;
    return set;
  });

/** Without the keys whose value is undefined: a case is plain JSON. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

const storage = fc
  .record({
    packs: fc.constantFrom('one', 'loose', 'several'),
    then: seldom(
      fc.constant([]),
      3,
      fc.subarray(['repack-ref-deltas', 'repack-index-v1', 'midx', 'alternates', 'pack-refs'] as const, {
        minLength: 1,
      }),
    ),
    replace: seldom(fc.constant(null), 60, fc.record({ path, content: fc.constantFrom('replaced\n', '') })),
    missing: seldom(fc.constant(null), 40, path),
    promisor: seldom(fc.constant(undefined), 60, fc.constant(true)),
  })
  .map((value) => plain(value) as Storage);

// Directories of directories would be allowed, and say nothing new.
const oddName = fc.constantFrom(
  'a',
  'b',
  'c',
  'a.b',
  'a/b',
  'a-b',
  '.gitattributes',
  'a/',
  '/a',
  '',
  '..',
  '.git',
  'b/.GIT',
);
const oddMode = fc.constantFrom(
  '100644',
  '100755',
  '120000',
  '160000',
  '100664',
  '0100644',
  '644',
  '140000',
  '120777',
  '100000',
);
const oddLeaf: fc.Arbitrary<OddEntry> = fc.record({
  mode: oddMode,
  name: oddName,
  is: seldom(
    fc.constantFrom('x\n', 'y\n', '* text eol=crlf\n', '').map((blob) => ({ blob })),
    6,
    fc.constantFrom('commit' as const, 'nothing'),
  ),
});
const oddEntry: fc.Arbitrary<OddEntry> = seldom(
  oddLeaf,
  2,
  fc.record({
    mode: seldom(fc.constant('40000'), 4, fc.constantFrom('040000', '40755', '100644', '160000')),
    name: oddName,
    is: fc.array(oddLeaf, { maxLength: 3 }).map((tree) => ({ tree })),
  }),
);
const oddTree = fc.array(oddEntry, { maxLength: 6 });
const hooks = fc
  .record({
    'post-checkout': seldom(fc.constant(0), 3, fc.constantFrom(undefined, 1, 3)),
    'post-index-change': seldom(fc.constant(undefined), 1, fc.constantFrom(0, 1)),
  })
  .map((statuses) => {
    const set: Record<string, number> = {};
    for (const [name, status] of Object.entries(statuses)) if (status !== undefined) set[name] = status;
    return set;
  });

const somePath = anyPath;
const time = fc.constantFrom(1_600_000_000, 1, 2_000_000_000, 1_600_000_000.5);
const treeDirt: fc.Arbitrary<Dirt> = fc.oneof(
  { withCrossShrink: true },
  fc.record({ do: fc.constant('write' as const), path: somePath, content }),
  fc.record({ do: fc.constant('edit' as const), path: somePath, keepTime: fc.boolean() }),
  fc.record({ do: fc.constant('copy' as const), path: somePath }),
  fc.record({ do: fc.constant('touch' as const), path: somePath, time }),
  fc.record({
    do: fc.constant('chmod' as const),
    path: somePath,
    mode: fc.constantFrom(0o755, 0o644, 0o600, 0o444, 0o711),
  }),
  fc.record({ do: fc.constant('remove' as const), path: somePath }),
  fc.record({ do: fc.constant('directory' as const), path: somePath, file: fc.boolean() }),
  fc.record({
    do: fc.constant('link' as const),
    path: somePath,
    target: linkTarget.filter((target) => !target.includes('\0')),
  }),
  fc.record({
    do: fc.constant('hardlink' as const),
    path: somePath,
    to: fc.oneof({ withCrossShrink: true }, fc.constant(null), somePath),
  }),
  fc.record({ do: fc.constant('move' as const), path: somePath, to: somePath }),
  fc.record({ do: fc.constant('nested' as const), path: somePath }),
  fc.record({ do: fc.constant('fifo' as const), path: somePath }),
  fc.record({
    do: fc.constant('write' as const),
    path: fc.constantFrom('.gitattributes', 'a/.gitattributes', '.gitignore'),
    content: fc.constantFrom('* text eol=crlf\n', '* ident\n', '*\n'),
  }),
);
const indexDirt: fc.Arbitrary<Dirt> = fc.oneof(
  { withCrossShrink: true },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('add' as const), path: somePath }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('uncache' as const), path: somePath }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('stat' as const),
      path: somePath,
      field: fc.constantFrom('ctime' as const, 'mtime', 'dev', 'ino', 'uid', 'gid', 'size'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('unmerged' as const),
      path: somePath,
      stages: fc.constantFrom([1, 2, 3], [1, 2], [2, 3], [1], [3]),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('index' as const),
      form: fc.constantFrom('v4' as const, 'untracked-cache', 'none', 'resolve-undo'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('state' as const),
      name: fc.constantFrom('MERGE_HEAD' as const, 'CHERRY_PICK_HEAD', 'REVERT_HEAD'),
    }),
  },
);
const costlyDirt: fc.Arbitrary<Dirt> = fc.oneof(
  { withCrossShrink: true },
  fc.record({
    do: fc.constant('flag' as const),
    path: somePath,
    flag: fc.constantFrom('assume-unchanged' as const, 'skip-worktree', 'intent-to-add'),
  }),
  fc.record({ do: fc.constant('index' as const), form: fc.constantFrom('split' as const) }),
  fc.record({
    do: fc.constant('sparse' as const),
    cone: fc.boolean(),
    lines: fc.oneof(
      { withCrossShrink: true },
      fc.constantFrom(['/*', '!/*/'], ['/*', '!/*/', '/a/'], ['/*', '!/*/', '/a/', '!/a/*/', '/a/b/'], ['/*'], []),
      fc.array(fc.constantFrom('a', '/a/', '!/a/b/', '/*', '!b', '*.b', '/a/*', '!/*/', '/b/', '# c', 'c/'), {
        maxLength: 4,
      }),
    ),
  }),
);
const dirt = fc.oneof(
  { withCrossShrink: true },
  { weight: 24, arbitrary: treeDirt },
  { weight: 7, arbitrary: indexDirt },
  { weight: 3, arbitrary: costlyDirt },
);

const keptPattern = fc.constantFrom(
  'a',
  '/a',
  'a/',
  '*.b',
  '!a',
  'a/b',
  '**/b',
  'untracked',
  'c/**',
  '[ab]',
  '\\*',
  'd/d',
  '*',
);
const step = fc
  .record({
    dirt: fc.array(dirt, { maxLength: 5 }),
    indexTime: fc.constantFrom('young', 'old', 'natural'),
    target: fc.constantFrom('detach', 'revision', 'branch', 'move-branch', 'head'),
    commit: fc.constantFrom(1, 2, 0),
    workers: fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 4),
    gitWorkers: fc.constantFrom(1, 1, 1, 1, 2),
    clean: seldom(fc.constant(undefined), 12, fc.array(keptPattern, { maxLength: 2 })),
  })
  .map((value) => plain(value) as Step);

/** Names by which test/support/filter-driver.js does something other than well. */
const DRIVEN_NAMES = [
  'delay',
  'delay-second',
  'delay-never',
  'delay-say-error',
  'delay-say-abort',
  'delay-list-unknown',
  'delay-list-error',
  'delay-late-error',
  'say-error',
  'say-abort',
  'say-what',
  'say-later',
  'say-nothing',
  'crash-first',
  'crash-middle',
  'late-error',
  'late-success',
];

/** Paths that make a long-running filter do something, where there is one. */
function onDrivenPaths(one: Case, picks: readonly number[]): Case {
  if (!/filter=(long|delays|must)/.test(JSON.stringify([one.slots, one.infoAttributes]))) return one;
  const slots = one.slots.map((slot, i): Slot => {
    const pick = picks[i % picks.length] ?? 0;
    if (pick % 2 === 0 || slot.path.endsWith('.gitattributes')) return slot;
    return { ...slot, path: `${slot.path}.${DRIVEN_NAMES[(pick + i) % DRIVEN_NAMES.length] ?? ''}` };
  });
  // A racy index is left out: git asks the process to clean such files, ours to smudge them, and what it does then has an
  // effect on all files after.
  const steps = one.steps.map((step): Step => ({ ...step, indexTime: 'young' }));
  return { ...one, slots, steps, infoAttributes: ['* filter=delays', ...one.infoAttributes] };
}

/** Dirt on paths that exist: its number picks one, where the case's own path would seldom be there. */
function onKnownPaths(one: Case, picks: readonly number[]): Case {
  const known = one.slots.map((each) => each.path);
  if (known.length === 0) return one;
  let next = 0;
  const pick = (usual: string): string => {
    const number = picks[next++ % picks.length] ?? 0;
    return number % 4 === 0 ? usual : (known[number % known.length] ?? usual);
  };
  const steps = one.steps.map((each) => ({
    ...each,
    dirt: each.dirt.map((what): Dirt =>
      'path' in what && !what.path.startsWith('.git') ? { ...what, path: pick(what.path) } : what,
    ),
  }));
  const { replace, missing } = one.storage;
  return {
    ...one,
    steps,
    storage: {
      ...one.storage,
      replace: replace === null ? null : { ...replace, path: pick(replace.path) },
      missing: missing === null ? null : pick(missing),
    },
  };
}

const slots = fc
  .tuple(fc.array(slot, { maxLength: 12 }), fc.array(attributeSlot, { maxLength: 2 }))
  .map(([plain, special]) => [...special, ...plain]);

export const anyCase: fc.Arbitrary<Case> = fc
  .tuple(
    fc.record({
      hash: seldom(fc.constant('sha1' as const), 12, fc.constant('sha256' as const)),
      slots,
      infoAttributes: seldom(fc.constant([]), 12, fc.array(attributeLine, { maxLength: 2 })),
      config,
      storage,
      oddTree: seldom(fc.constant(undefined), 30, oddTree),
      globalAttributes: seldom(fc.constant(undefined), 40, fc.array(attributeLine, { minLength: 1, maxLength: 2 })),
      hooks: seldom(fc.constant(undefined), 40, hooks),
      umask: seldom(fc.constant(undefined), 20, fc.constantFrom(0o077, 0, 0o027, 0o777)),
      start: fc.constantFrom(0, null, 0, 0),
      steps: fc.array(step, { minLength: 1, maxLength: 3 }),
    }),
    fc.array(fc.nat(1000), { minLength: 1, maxLength: 8 }),
  )
  .map(([one, picks]) => withDrivers(onKnownPaths(onDrivenPaths(plain(one) as Case, picks), picks)));

const DRIVERS: Readonly<Record<string, string>> = {
  'filter.upper.smudge': 'tr a-z A-Z',
  'filter.upper.clean': 'tr A-Z a-z',
  'filter.fails.smudge': 'cat >/dev/null; false',
  'filter.required.smudge': 'cat >/dev/null; false',
  'filter.required.required': 'true',
  'filter.long.process': '"$FUZZ_NODE" "$FUZZ_DRIVER" ../filter.log clean smudge',
  'filter.delays.process': '"$FUZZ_NODE" "$FUZZ_DRIVER" ../filter.log smudge delay',
  'filter.must.process': '"$FUZZ_NODE" "$FUZZ_DRIVER" ../filter.log clean smudge',
  'filter.must.required': 'true',
};

/** Filter drivers are set up where an attribute names one. */
function withDrivers(one: Case): Case {
  const said = JSON.stringify([one.slots, one.infoAttributes, one.steps]);
  const drivers = Object.entries(DRIVERS).filter(([key]) => said.includes(`filter=${key.split('.')[1] ?? ''}`));
  return drivers.length === 0 ? one : { ...one, config: { ...one.config, ...Object.fromEntries(drivers) } };
}
