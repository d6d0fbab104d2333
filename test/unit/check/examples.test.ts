// The example workflows use inputs and outputs that this action has.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const EXAMPLES = join(ROOT, 'docs', 'examples');
const action = parse(readFileSync(join(ROOT, 'action.yml'), 'utf8')) as {
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly outputs: Readonly<Record<string, unknown>>;
};

interface Workflow {
  readonly on: unknown;
  readonly permissions: unknown;
  readonly jobs: Readonly<Record<string, { readonly 'runs-on': unknown; readonly steps: readonly Step[] }>>;
}
interface Step {
  readonly uses?: string;
  readonly id?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

const names = readdirSync(EXAMPLES);

it('are there', () => {
  expect(names.length).toBeGreaterThan(0);
});

it.each(names)('%s', (name) => {
  const text = readFileSync(join(EXAMPLES, name), 'utf8');
  const workflow = parse(text) as Workflow;
  expect(workflow.on).toBeDefined();
  expect(workflow.permissions).toBeDefined();
  const jobs = Object.values(workflow.jobs);
  for (const job of jobs) expect(job['runs-on']).toBeDefined();
  const ours = jobs
    .flatMap(({ steps }) => steps)
    .filter(({ uses }) => uses?.startsWith('OWNER/parallel-checkout@') === true);
  expect(ours.length).toBeGreaterThan(0);
  for (const step of ours) {
    for (const input of Object.keys(step.with ?? {})) expect(action.inputs).toHaveProperty(input);
  }
  const ids = ours.flatMap(({ id }) => (id === undefined ? [] : [id]));
  for (const [, id, output] of text.matchAll(/steps\.([\w-]+)\.outputs\.([\w-]+)/g)) {
    expect(ids).toContain(id);
    expect(action.outputs).toHaveProperty(output!);
  }
});
