// The page for those who come from actions/checkout has every input, and says of those that are refused that they are.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { readSettings } from '../../../src/action/inputs.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const page = readFileSync(join(ROOT, 'docs', 'migration.md'), 'utf8');
const { inputs, outputs } = parse(readFileSync(join(ROOT, 'action.yml'), 'utf8')) as {
  inputs: Record<string, unknown>;
  outputs: Record<string, unknown>;
};

/** The inputs of actions/checkout v7.0.1, from its action.yml. */
const THEIRS = [
  'repository',
  'ref',
  'token',
  'ssh-key',
  'ssh-known-hosts',
  'ssh-strict',
  'ssh-user',
  'persist-credentials',
  'path',
  'clean',
  'filter',
  'sparse-checkout',
  'sparse-checkout-cone-mode',
  'fetch-depth',
  'fetch-tags',
  'show-progress',
  'lfs',
  'submodules',
  'set-safe-directory',
  'github-server-url',
  'allow-unsafe-pr-checkout',
];

function row(name: string): string | undefined {
  return page.split('\n').find((line) => line.startsWith(`| \`${name}\` `));
}

/** Whether the input is one that is declared and refused. The values are such as no input is refused for otherwise. */
function isRefused(name: string): boolean {
  const value = name === 'ssh-strict' ? 'false' : name === 'lfs' || name === 'submodules' ? 'true' : 'x';
  try {
    readSettings({ [`INPUT_${name.toUpperCase()}`]: value }, {});
  } catch (error) {
    return error instanceof Error && error.message.includes(`'${name}' is not supported yet`);
  }
  return false;
}

it.each(THEIRS)('has a row for %s, which says whether it is built', (name) => {
  expect(inputs).toHaveProperty(name);
  expect(row(name)).toBeDefined();
  expect(row(name)?.includes('not built yet')).toBe(isRefused(name));
});

it('names the inputs of our own', () => {
  const own = Object.keys(inputs).filter((name) => !THEIRS.includes(name));
  expect(own.length).toBeGreaterThan(0);
  for (const name of own) expect(page).toContain(`\`${name}\``);
});

it('is not alone: the page about the action names every input and output too', () => {
  const reference = readFileSync(join(ROOT, 'docs', 'action.md'), 'utf8');
  const named = (name: string): boolean =>
    reference.includes(`\`${name}\``) || (name.startsWith('ssh-') && reference.includes('`ssh-…`'));
  expect([...Object.keys(inputs), ...Object.keys(outputs)].filter((name) => !named(name))).toEqual([]);
  expect(named('planted')).toBe(false);
});
