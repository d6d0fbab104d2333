// Rules for the workflows that GitHub does not enforce: actions pinned by commit, no more permissions than needed, and a gate
// that waits for every job.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

const FOLDER = join(import.meta.dirname, '../../../.github/workflows');

interface Step {
  uses?: string;
  with?: Record<string, unknown>;
}

interface Job {
  needs?: string[];
  permissions?: Record<string, string>;
  'timeout-minutes'?: number;
  steps: Step[];
}

interface Workflow {
  permissions?: Record<string, string>;
  jobs: Record<string, Job>;
}

/** What is wrong with a workflow, one line a fault. */
function faults({ permissions, jobs }: Workflow): string[] {
  const found: string[] = [];
  if (JSON.stringify(permissions) !== '{}') found.push('the workflow grants permissions to all jobs');
  for (const [name, job] of Object.entries(jobs)) {
    if (job.permissions === undefined) found.push(`${name}: no permissions stated`);
    if (Object.entries(job.permissions ?? {}).some(([, level]) => level === 'write')) found.push(`${name}: may write`);
    if (job['timeout-minutes'] === undefined) found.push(`${name}: no time limit`);
    for (const { uses, with: inputs } of job.steps) {
      if (uses === undefined || uses === './') continue;
      if (!/^[\w-]+\/[\w-]+@[0-9a-f]{40}$/.test(uses)) found.push(`${name}: ${uses} is not pinned by commit`);
      if (uses.startsWith('actions/checkout@') && inputs?.['persist-credentials'] !== false) {
        found.push(`${name}: leaves the token for later steps`);
      }
    }
  }
  if ('gate' in jobs) {
    const needed = new Set(jobs['gate'].needs);
    for (const name of Object.keys(jobs)) {
      if (name !== 'gate' && !needed.has(name)) found.push(`gate: does not wait for ${name}`);
    }
  }
  return found;
}

describe('workflows', async () => {
  const files = await readdir(FOLDER);

  it('exist, and one has the gate', async () => {
    const texts = await Promise.all(files.map((file) => readFile(join(FOLDER, file), 'utf8')));
    expect(texts.some((text) => 'gate' in (parse(text) as Workflow).jobs)).toBe(true);
  });

  it.each(files)('%s keeps the rules', async (file) => {
    expect(faults(parse(await readFile(join(FOLDER, file), 'utf8')) as Workflow)).toEqual([]);
  });

  it('are seen to break each rule', () => {
    const hash = 'a'.repeat(40);
    expect(
      faults({
        permissions: { contents: 'read' },
        jobs: {
          one: { steps: [{ uses: 'actions/setup-node@v7' }, { uses: `actions/checkout@${hash}` }] },
          two: { permissions: { contents: 'write' }, 'timeout-minutes': 1, steps: [{ uses: './' }] },
          gate: { permissions: {}, 'timeout-minutes': 1, needs: ['two'], steps: [] },
        },
      }),
    ).toEqual([
      'the workflow grants permissions to all jobs',
      'one: no permissions stated',
      'one: no time limit',
      'one: actions/setup-node@v7 is not pinned by commit',
      'one: leaves the token for later steps',
      'two: may write',
      'gate: does not wait for one',
    ]);
  });
});
