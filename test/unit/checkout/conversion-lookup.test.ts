import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ATTRIBUTES_FILE_LIMIT } from '../../../src/engine/attributes/gitattributes.ts';
import { AttributeConversions, type WorktreeAttributes } from '../../../src/engine/checkout/conversion-lookup.ts';
import { buildManifest } from '../../../src/engine/checkout/manifest.ts';
import type { Conversion, ConversionConfig } from '../../../src/engine/filter/conversion.ts';
import { ObjectDatabase } from '../../../src/engine/odb/object-database.ts';
import { oidFromHex, SHA1 } from '../../../src/engine/oid.ts';
import { GITLINK_OID, GitRepository, type RawEntry, type TreeSpec } from '../../support/repository.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const folder = temporaryFolder('conversion-lookup');
const repository = new GitRepository(folder, 'repository');
let cases = 0;

const CONFIG: ConversionConfig = {
  autocrlf: 'false',
  eol: 'native',
  nativeEol: 'lf',
  glibc: true,
  runsDrivers: true,
  filters: new Map(),
};

interface Setting {
  readonly info?: string;
  readonly global?: string;
  readonly system?: string;
  /** Files of the working tree. */
  readonly worktree?: Readonly<Record<string, string>>;
  readonly tracked?: readonly string[];
  readonly ignoreCase?: boolean;
  readonly prepare?: (workTree: string) => void;
  /** Paths of these files, in place of ones with a content. */
  readonly infoPath?: string;
  readonly globalPath?: string;
}

/** What becomes of each path that is not left as it is. */
function conversionsOf(tree: string | TreeSpec, setting: Setting = {}): Record<string, string> {
  const place = join(folder, `case-${cases++}`);
  const workTree = join(place, 'work');
  mkdirSync(workTree, { recursive: true });
  const write = (path: string, content: string | undefined): string => {
    mkdirSync(dirname(path), { recursive: true });
    if (content !== undefined) writeFileSync(path, content);
    return path;
  };
  for (const [name, content] of Object.entries(setting.worktree ?? {})) write(join(workTree, name), content);
  setting.prepare?.(workTree);
  const worktree: WorktreeAttributes = {
    workTree,
    isTracked: (path) => setting.tracked?.includes(Buffer.from(path).toString()) === true,
  };
  const oid = typeof tree === 'string' ? tree : repository.commit(tree).tree;
  const odb = ObjectDatabase.open([join(repository.gitDir, 'objects')], SHA1, () => undefined);
  try {
    const lookup = new AttributeConversions(
      odb,
      CONFIG,
      {
        info: setting.infoPath ?? write(join(place, 'info'), setting.info),
        global:
          setting.globalPath ?? (setting.global === undefined ? null : write(join(place, 'global'), setting.global)),
        system: setting.system === undefined ? null : write(join(place, 'system'), setting.system),
      },
      setting.ignoreCase ?? false,
      setting.worktree === undefined && setting.prepare === undefined ? null : worktree,
    );
    const { tables } = buildManifest(odb, oidFromHex(oid), {
      rules: { ntfs: true, hfs: false, windows: false },
      conversions: lookup,
      maxPathBytes: 4000,
    });
    const found: Record<string, string> = {};
    for (let i = 0; i < tables.count; i++) {
      const name = describeConversion(lookup.conversions[tables.conversions[i]!]!);
      if (name === 'none') continue;
      found[Buffer.from(tables.pathBytes.subarray(tables.pathOffsets[i], tables.pathOffsets[i + 1])).toString()] = name;
    }
    return found;
  } finally {
    odb.close();
  }
}

function describeConversion({ kind, crlf, ident, reason }: Conversion): string {
  if (kind === 'git') return reason ?? '';
  return [crlf === 'none' ? [] : [crlf], ident ? ['ident'] : []].flat().join('+') || 'none';
}

describe('rules of the tree', () => {
  it('of each directory, for it and below', () => {
    expect(
      conversionsOf({
        '.gitattributes': '*.txt eol=crlf\n',
        'a.txt': 'x',
        'b/.gitattributes': '*.txt -text\n*.c ident\n',
        'b/a.txt': 'x',
        'b/a.c': 'x',
        'b/d/a.c': 'x',
        'c/a.txt': 'x',
        'c/a.c': 'x',
      }),
    ).toEqual({ 'a.txt': 'text', 'b/a.c': 'ident', 'b/d/a.c': 'ident', 'c/a.txt': 'text' });
  });

  it('none, and none that look like it', () => {
    expect(conversionsOf({ 'x.gitattributes': '* ident', '.gitattributes.x': '* ident', a: 'x' })).toEqual({});
  });

  it('links and submodules are not converted', () => {
    expect(
      conversionsOf({ '.gitattributes': '* ident\n', a: 'x', b: { symlink: 'a' }, c: { gitlink: GITLINK_OID } }),
    ).toEqual({ '.gitattributes': 'ident', a: 'ident' });
  });

  it('of a link the text that it has for a target', () => {
    expect(conversionsOf({ '.gitattributes': { symlink: '* ident' }, a: 'x' })).toEqual({ a: 'ident' });
  });

  it('macros at the top only', () => {
    expect(
      conversionsOf({
        '.gitattributes': '[attr]mine ident\na mine\n',
        a: 'x',
        'd/.gitattributes': '[attr]other ident\nb other\na mine\n',
        'd/a': 'x',
        'd/b': 'x',
      }),
    ).toEqual({ a: 'ident', 'd/a': 'ident' });
  });

  it('that are missing, no blob, or a directory count as none', () => {
    const blob = repository.object('blob', 'x');
    const entries = (oid: string, mode = '100644'): RawEntry[] => [
      { mode, name: '.gitattributes', oid },
      { mode: '100644', name: 'a', oid: blob },
    ];
    expect(conversionsOf(repository.rawTree(entries('12'.repeat(20))))).toEqual({});
    expect(conversionsOf(repository.rawTree(entries(repository.rawTree([]))))).toEqual({});
    expect(conversionsOf(repository.rawTree(entries(GITLINK_OID, '160000')))).toEqual({});
    const inner = repository.rawTree([{ mode: '100644', name: 'x', oid: blob }]);
    expect(conversionsOf(repository.rawTree(entries(inner, '40000')))).toEqual({});
  });

  it('that are damaged stop the checkout', () => {
    const oid = 'de'.repeat(20);
    const tree = repository.rawTree([{ mode: '100644', name: '.gitattributes', oid }]);
    const path = repository.loosePath(oid);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, 'damaged');
    expect(() => conversionsOf(tree)).toThrow(expect.objectContaining({ code: 'object-corrupt' }));
    rmSync(path);
  });
});

describe('other places', () => {
  const tree = { '.gitattributes': 'a ident\nb -ident\n', a: 'x', b: 'x', c: 'x', d: 'x' };

  it('info before the tree before the user’s before the system’s', () => {
    expect(
      conversionsOf(tree, { info: 'a -ident\n', global: 'b ident\nc ident\nd -ident\n', system: 'd ident\n' }),
    ).toEqual({
      c: 'ident',
    });
    expect(conversionsOf(tree, { info: 'b ident\n', system: 'd ident\n' })).toEqual({
      a: 'ident',
      b: 'ident',
      d: 'ident',
    });
  });

  it('they may have macros', () => {
    expect(conversionsOf(tree, { info: '[attr]m1 ident\nc m1\n', global: '[attr]m2 eol=crlf\nd m2\n' })).toEqual({
      a: 'ident',
      c: 'ident',
      d: 'text',
    });
  });

  it('what cannot be read is told', () => {
    expect(() =>
      conversionsOf(tree, { prepare: (workTree) => symlinkSync('info', join(workTree, '..', 'info')) }),
    ).toThrow(expect.objectContaining({ code: 'io' }));
  });

  it('says by which filter a path needs git', () => {
    expect(conversionsOf({ '.gitattributes': 'a working-tree-encoding=UTF-7\n', a: 'x' })).toEqual({
      a: "working-tree-encoding 'UTF-7'",
    });
  });

  it('may disregard case', () => {
    const rules = { '.gitattributes': 'A ident\n', a: 'x' };
    expect(conversionsOf(rules)).toEqual({});
    expect(conversionsOf(rules, { ignoreCase: true })).toEqual({ a: 'ident' });
  });
});

describe('files in the working tree', () => {
  const tree = { a: 'x', 'd/a': 'x', 'e/.gitattributes': 'b ident\n', 'e/a': 'x', 'e/b': 'x' };

  it('count where the tree has none, and nobody tracks them', () => {
    const worktree = {
      '.gitattributes': 'a eol=crlf\n',
      'd/.gitattributes': 'a ident\n',
      'e/.gitattributes': '* ident\n',
    };
    expect(conversionsOf(tree, { worktree })).toEqual({
      a: 'text',
      'd/a': 'text+ident',
      'e/a': 'text',
      'e/b': 'ident',
    });
    expect(conversionsOf(tree, { worktree, tracked: ['.gitattributes'] })).toEqual({ 'd/a': 'ident', 'e/b': 'ident' });
    expect(conversionsOf(tree, { worktree, tracked: ['d/.gitattributes'] })).toEqual({
      a: 'text',
      'd/a': 'text',
      'e/a': 'text',
      'e/b': 'ident',
    });
  });

  it('outside of it are not read either where they are that large, or without an end', () => {
    const large = join(folder, 'large');
    writeFileSync(large, '* ident\n');
    expect(conversionsOf({ a: 'x' }, { infoPath: large, globalPath: large })).toEqual({ a: 'ident' });
    truncateSync(large, ATTRIBUTES_FILE_LIMIT);
    const before = process.resourceUsage().maxRSS;
    expect(conversionsOf({ a: 'x' }, { infoPath: large })).toEqual({});
    truncateSync(large, 2 ** 40);
    expect(conversionsOf({ a: 'x' }, { globalPath: large })).toEqual({});
    expect(process.resourceUsage().maxRSS - before).toBeLessThan(50 << 10);
    expect(conversionsOf({ a: 'x' }, { infoPath: folder })).toEqual({});
    if (process.platform !== 'linux') return;
    expect(conversionsOf({ a: 'x' }, { globalPath: '/dev/null' })).toEqual({});
    expect(conversionsOf({ a: 'x' }, { globalPath: '/dev/zero' })).toEqual({});
  });

  it('are not read where they are as large as git no longer reads', () => {
    const grow = (size: number) => (workTree: string) => {
      const path = join(workTree, '.gitattributes');
      writeFileSync(path, 'a ident\n');
      // Sparse: it takes no room, and would take long to read.
      truncateSync(path, size);
    };
    expect(conversionsOf(tree, { prepare: grow(ATTRIBUTES_FILE_LIMIT) })).toEqual({ 'e/b': 'ident' });
    expect(conversionsOf(tree, { prepare: grow(8) })).toEqual({
      a: 'ident',
      'd/a': 'ident',
      'e/a': 'ident',
      'e/b': 'ident',
    });
  });

  it.skipIf(process.platform === 'win32')('are not waited for where they are a named pipe', () => {
    const pipe = (workTree: string): void => void execFileSync('mkfifo', [join(workTree, '.gitattributes')]);
    expect(conversionsOf({ a: 'a' }, { prepare: pipe })).toEqual({});
  });

  it('are not looked for where there is nothing', () => {
    expect(conversionsOf(tree)).toEqual({ 'e/b': 'ident' });
  });

  it.runIf(process.platform !== 'win32')(
    'are not followed where they are links, nor read where they are no files',
    () => {
      expect(
        conversionsOf(tree, {
          prepare: (workTree) => {
            writeFileSync(join(workTree, 'rules'), '* ident\n');
            symlinkSync('rules', join(workTree, '.gitattributes'));
            mkdirSync(join(workTree, 'd', '.gitattributes'), { recursive: true });
          },
        }),
      ).toEqual({ 'e/b': 'ident' });
    },
  );
});
