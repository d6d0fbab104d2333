// Each lint rule that this project relies on is seen failing on a planted violation: a rule whose pattern matches nothing
// looks exactly like code without faults.
import { join } from 'node:path';
import { ESLint } from 'eslint';
import tseslint from 'typescript-eslint';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');

const typed = new ESLint({ cwd: ROOT });
// Rules that look at syntax alone are tried on files that need not exist, which the type-aware parser would refuse.
const untyped = new ESLint({
  cwd: ROOT,
  overrideConfig: [
    tseslint.configs.disableTypeChecked,
    { languageOptions: { parserOptions: { projectService: false } } },
  ],
});

async function rulesBroken(eslint: ESLint, file: string, code: string): Promise<(string | null)[]> {
  const [result] = await eslint.lintText(code, { filePath: join(ROOT, file) });
  return result?.messages.map(({ ruleId, message }) => (ruleId === null ? message : ruleId)) ?? ['not linted'];
}

const RESTRICTED = 'no-restricted-syntax';

describe('rules on syntax', () => {
  it.each([
    ['src/engine/plan/planted.ts', 'export const code = (): never => process.exit(1);', RESTRICTED],
    ['src/engine/plan/planted.ts', 'process.exitCode = 1;', RESTRICTED],
    ['src/engine/plan/planted.ts', "process.stdout.write('x');", RESTRICTED],
    ['src/engine/plan/planted.ts', "console.log('x');", 'no-console'],
    ['src/engine/plan/planted.ts', 'export const home = process.env.HOME;', RESTRICTED],
    ['src/engine/plan/planted.ts', "export const home = process['env'].HOME;", RESTRICTED],
    ['src/engine/host/planted.ts', 'export const sha = process.env.GITHUB_SHA;', RESTRICTED],
    ['src/engine/host/planted.ts', "export const sha = process.env['INPUT_REF'];", RESTRICTED],
    ['src/engine/gitdir/planted.ts', "export const name = 'RUNNER_TEMP';", RESTRICTED],
    ['src/engine/errors.ts', "export const lib = import('@actions/core');", RESTRICTED],
    ['src/engine/plan/planted.ts', "import * as core from '@actions/core'; core.info('x');", 'no-restricted-imports'],
    ['src/engine/plan/planted.ts', "import { exit } from 'node:process'; exit(1);", 'no-restricted-imports'],
    ['src/action/planted.ts', 'export const value: any = 1;', '@typescript-eslint/no-explicit-any'],
    ['src/cli/planted.ts', "export const name = 'a\u202eb';", 'project/no-bidi'],
    ['test/unit/planted.ts', '// \u2066 hidden', 'project/no-bidi'],
    ['bench/planted.ts', 'export const same = (a: unknown): boolean => a == 1;', 'eqeqeq'],
  ])('%s: %s', async (file, code, rule) => {
    expect(await rulesBroken(untyped, file, code)).toContain(rule);
  });

  it.each([
    ['src/engine/host/planted.ts', 'export const home = process.env.HOME;'],
    ['src/engine/gitdir/planted.ts', 'export const home = process.env.HOME;'],
    ['src/action/planted.ts', 'export const sha = process.env.GITHUB_SHA;'],
    ['src/cli/planted.ts', 'process.exitCode = 1;'],
  ])('%s may: %s', async (file, code) => {
    expect(await rulesBroken(untyped, file, code)).toEqual([]);
  });
});

describe('rules on types', () => {
  // The type-aware parser takes the text from here, but wants a file that belongs to the project.
  const file = 'scripts/licenses.ts';

  it.each([
    [
      'async function work(): Promise<void> { await Promise.resolve(); }\nwork();',
      '@typescript-eslint/no-floating-promises',
    ],
    ['export const list = [1].filter(async () => Promise.resolve(true));', '@typescript-eslint/no-misused-promises'],
    [
      "export function size(kind: 'file' | 'link'): number {\n  switch (kind) {\n    case 'file':\n      return 1;\n  }\n  return 0;\n}",
      '@typescript-eslint/switch-exhaustiveness-check',
    ],
    ["export const value: number = JSON.parse('1');", '@typescript-eslint/no-unsafe-assignment'],
  ])('%s', async (code, rule) => {
    expect(await rulesBroken(typed, file, code)).toContain(rule);
  });
});

describe('what is linted', () => {
  it.each([
    'src/engine/errors.ts',
    'src/cli/index.ts',
    'test/unit/x.test.ts',
    'bench/run.ts',
    'scripts/build.ts',
    'scripts/start.js',
  ])('%s is', async (file) => {
    expect(await typed.isPathIgnored(join(ROOT, file))).toBe(false);
  });

  it.each(['eslint.config.js', 'vitest.config.ts', '.dependency-cruiser.js'])('%s is', async (file) => {
    expect(await typed.isPathIgnored(join(ROOT, file))).toBe(false);
  });
});
