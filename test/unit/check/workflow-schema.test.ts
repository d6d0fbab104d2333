// Every workflow and snippet that this repository shows is one that GitHub takes, and the checker does find what it would not.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { actionFaults, snippets, workflowFaults, workflows } from '../../../scripts/workflows.ts';

const ROOT = join(import.meta.dirname, '../../..');
const action = readFileSync(join(ROOT, 'action.yml'), 'utf8').replaceAll('\r\n', '\n');

it('action.yml', () => {
  expect(actionFaults('action.yml', action)).toEqual([]);
});

describe('workflows', () => {
  const all = [...workflows()];

  it('are those of CI, the examples and the pages', () => {
    const names = all.map(([name]) => name.replaceAll('\\', '/'));
    expect(names).toContain('.github/workflows/ci.yml');
    expect(names).toContain('docs/examples/plain.yml');
    expect(names.filter((name) => /^README\.md, snippet at line \d+$/.test(name))).not.toEqual([]);
    expect(names.filter((name) => name.startsWith('docs/migration.md, snippet'))).not.toEqual([]);
  });

  it.each(all)('%s', async (name, content) => {
    expect(await workflowFaults(name, content)).toEqual([]);
  });
});

/** A change to a text that must be in it. */
function broken(text: string, from: string, to: string): string {
  expect(text).toContain(from);
  return text.replace(from, to);
}

it.each([
  ['    runs-on: ', '    runs_on: ', "Unexpected value 'runs_on'"],
  ['    runs-on: ${{ matrix.os }}\n', '', 'Required property is missing: runs-on'],
  ['on: push', 'on: pushed', "Unexpected value 'pushed'"],
  ['contents: read', 'contents: reed', "Unexpected value 'reed'"],
  ['      - uses: OWNER', '      - use: OWNER', "Unexpected value 'use'"],
  ['${{ steps.checkout.outputs.files }}', '${{ stepss.checkout.outputs.files }}', 'Unrecognized named-value'],
  ['${{ steps.checkout.outputs.files }}', '${{ steps.checkout.outputs.files', "Unexpected symbol: '${{'"],
  ['${{ steps.checkout.outputs.files }}', '${{ steps.checkout.outputs. }}', "Unexpected symbol: 'EOF'"],
  ['    strategy:\n', '    needs: another\n    strategy:\n', 'at least one job with no dependencies'],
])('an example with %s broken to %s is found', async (from, to, fault) => {
  const example = readFileSync(join(ROOT, 'docs/examples/matrix.yml'), 'utf8').replaceAll('\r\n', '\n');
  const faults = await workflowFaults('matrix.yml', broken(example, from, to));
  expect(faults.join('\n')).toContain(fault);
  expect(faults[0]).toMatch(/^matrix\.yml \(Line: \d+, Col: \d+\): /);
});

it.each([
  ['using: node24', 'using: node23', "Unexpected value 'node23'"],
  ['color: green', 'color: beige', "Unexpected value 'beige'"],
  ['runs:\n', 'run:\n', 'Required property is missing: runs'],
])('an action with %s broken to %s is found', (from, to, fault) => {
  expect(actionFaults('action.yml', broken(action, from, to)).join('\n')).toContain(fault);
});

it('takes a list on a page for steps, with its line', async () => {
  const [steps, whole, ...others] = snippets(
    '# Page\n\n```yaml\n- run: ls\n  nme: x\n```\n\n```yaml\non: push\n```\n\n```sh\nls\n```\n',
  );
  expect(others).toEqual([]);
  expect([steps?.line, whole?.line]).toEqual([3, 8]);
  expect(await workflowFaults('page', steps!.workflow)).toEqual(["page (Line: 7, Col: 9): Unexpected value 'nme'"]);
  expect(await workflowFaults('page', whole!.workflow)).toEqual([
    'page (Line: 1, Col: 1): Required property is missing: jobs',
  ]);
});
