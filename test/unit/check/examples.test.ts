// The example workflows, and the snippets on the pages, use inputs and outputs that this action has.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { workflows } from '../../../scripts/workflows.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const action = parse(readFileSync(join(ROOT, 'action.yml'), 'utf8')) as {
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly outputs: Readonly<Record<string, unknown>>;
};

interface Workflow {
  readonly permissions?: unknown;
  readonly jobs: Readonly<Record<string, { readonly steps: readonly Step[] }>>;
}
interface Step {
  readonly uses?: string;
  readonly id?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

/** What a workflow wants of this action that it does not have. */
function faults(text: string): string[] {
  const found: string[] = [];
  const steps = Object.values((parse(text) as Workflow).jobs).flatMap((job) => job.steps);
  const ours = steps.filter(({ uses }) => uses?.startsWith('OWNER/parallel-checkout@') === true);
  if (ours.length === 0) found.push('no step uses the action');
  for (const name of ours.flatMap((step) => Object.keys(step.with ?? {}))) {
    if (!(name in action.inputs)) found.push(`no input '${name}'`);
  }
  const ids = new Set(ours.map(({ id }) => id));
  for (const [, id, output] of text.matchAll(/steps\.([\w-]+)\.outputs\.([\w-]+)/g)) {
    if (!ids.has(id)) found.push(`no step '${id ?? ''}'`);
    if (!(output! in action.outputs)) found.push(`no output '${output ?? ''}'`);
  }
  return found;
}

const shown = [...workflows()].filter(([name]) => !name.startsWith('.github'));
const examples = shown.filter(([name]) => name.replaceAll('\\', '/').startsWith('docs/examples/'));

it.each(shown)('%s', (_, text) => {
  expect(faults(text)).toEqual([]);
});

it.each(examples)('%s grants no more than it needs, and says so', (_, text) => {
  expect((parse(text) as Workflow).permissions).toEqual({ contents: 'read' });
});

it('are seen to be wrong', () => {
  expect(examples.length).toBeGreaterThan(3);
  const step = (text: string): string => `jobs:\n  a:\n    steps:\n${text}`;
  expect(faults(step('      - run: ls\n'))).toEqual(['no step uses the action']);
  const ours = '      - uses: OWNER/parallel-checkout@v1\n        id: here\n';
  expect(faults(step(`${ours}        with:\n          fetch-dept: 1\n`))).toEqual(["no input 'fetch-dept'"]);
  expect(faults(step(`${ours}      - run: \${{ steps.there.outputs.comit }}\n`))).toEqual([
    "no step 'there'",
    "no output 'comit'",
  ]);
});
