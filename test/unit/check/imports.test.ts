// Each import rule is seen failing on a planted tree, and passing on a clean one.
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');
const DEPCRUISE = join(ROOT, 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs');

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

interface Outcome {
  summary: { totalCruised: number; violations: { from: string; rule: { name: string } }[] };
}

/** Runs the import check on a tree of the given files, each an `import` of the paths listed; returns `rule: file`. */
async function check(files: Readonly<Record<string, readonly string[]>>): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'imports-'));
  folders.push(folder);
  await cp(join(ROOT, 'tsconfig.json'), join(folder, 'tsconfig.json'));
  await cp(join(ROOT, '.dependency-cruiser.js'), join(folder, '.dependency-cruiser.js'));
  const packages = { type: 'module', dependencies: { '@actions/core': '1' }, devDependencies: { yaml: '1' } };
  await writeFile(join(folder, 'package.json'), JSON.stringify(packages));
  for (const name of ['@actions/core', 'yaml']) {
    await mkdir(join(folder, 'node_modules', name), { recursive: true });
    await writeFile(join(folder, 'node_modules', name, 'package.json'), JSON.stringify({ name, main: 'index.js' }));
    await writeFile(join(folder, 'node_modules', name, 'index.js'), '');
  }
  for (const [path, imports] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), imports.map((target) => `import '${target}';\n`).join('') + 'export {};\n');
  }
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [DEPCRUISE, '--config', '.dependency-cruiser.js', '-T', 'json', 'src'],
    {
      cwd: folder,
      maxBuffer: 1 << 24,
    },
  ).catch((error: unknown) => error as { stdout: string });
  const { summary } = JSON.parse(stdout) as Outcome;
  expect(summary.totalCruised).toBeGreaterThanOrEqual(Object.keys(files).length);
  return summary.violations.map(({ rule, from }) => `${rule.name}: ${from}`).sort();
}

it('accepts imports in the right direction', async () => {
  const found = await check({
    'src/engine/errors.ts': [],
    'src/engine/oid.ts': ['./errors.ts'],
    'src/engine/settings.ts': ['./oid.ts'],
    'src/engine/object/tree.ts': ['../oid.ts', './mode.ts', 'node:zlib'],
    'src/engine/object/mode.ts': [],
    'src/engine/checkout/pool.ts': ['../object/tree.ts', '../worktree/write.ts'],
    'src/engine/worktree/write.ts': ['../object/tree.ts'],
    'src/engine/report/report.ts': ['../checkout/pool.ts'],
    'src/engine/engine.ts': ['./checkout/pool.ts', './report/report.ts', './object/tree.ts'],
    'src/action/main.ts': [
      '../engine/engine.ts',
      '../engine/errors.ts',
      '../engine/report/report.ts',
      '@actions/core',
      './inputs.ts',
    ],
    'src/action/inputs.ts': ['../engine/settings.ts'],
    'src/cli/index.ts': ['../engine/engine.ts'],
  });
  expect(found).toEqual([]);
});

it('refuses each import in a wrong direction', async () => {
  const found = await check({
    'src/engine/errors.ts': [],
    'src/engine/oid.ts': ['./object/tree.ts'],
    'src/engine/object/tree.ts': [],
    'src/engine/object/late.ts': ['../pack/entry.ts'],
    'src/engine/pack/entry.ts': [],
    'src/engine/checkout/late.ts': ['../report/report.ts'],
    'src/engine/report/report.ts': [],
    'src/engine/plan/up.ts': ['../engine.ts'],
    'src/engine/engine.ts': [],
    'src/engine/fetch/auth.ts': ['@actions/core'],
    'src/engine/host/input.ts': ['../../action/inputs.ts'],
    'src/action/inputs.ts': [],
    'src/action/deep.ts': ['../engine/pack/entry.ts'],
    'src/cli/index.ts': ['../action/inputs.ts'],
    'src/engine/novel/thing.ts': ['../errors.ts'],
    'src/engine/refs/a.ts': ['./b.ts'],
    'src/engine/refs/b.ts': ['./a.ts'],
    'src/cli/tool.ts': ['yaml'],
    'src/cli/lost.ts': ['./nowhere.ts'],
  });
  expect(found).toEqual(
    expect.arrayContaining([
      'engine-base-imports-base-only: src/engine/oid.ts',
      'engine-object-imports-earlier-folders-only: src/engine/object/late.ts',
      'engine-checkout-imports-earlier-folders-only: src/engine/checkout/late.ts',
      'engine-plan-imports-earlier-folders-only: src/engine/plan/up.ts',
      'engine-knows-no-actions-library: src/engine/fetch/auth.ts',
      'engine-knows-no-front-end: src/engine/host/input.ts',
      'front-ends-use-the-front-door: src/action/deep.ts',
      'front-ends-are-separate: src/cli/index.ts',
      'engine-folder-is-known: src/engine/novel/thing.ts',
      'no-cycles: src/engine/refs/a.ts',
      'declared-dependencies-only: src/cli/tool.ts',
      'imports-resolve: src/cli/lost.ts',
    ]),
  );
});
