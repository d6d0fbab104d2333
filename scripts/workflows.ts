// Holds action.yml, our own workflows, the example workflows and the snippets of the documentation against GitHub's schema of
// them, with the parser that its editor extension has: keys, values, events, permissions, expressions.
// docs/decisions/workflow-checker.md
import { readdirSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join, relative } from 'node:path';

const ROOT = join(import.meta.dirname, '..');

// The package imports its schemas as bundlers allow it, without saying that they are JSON, which Node insists on.
registerHooks({
  load: (url, context, next) =>
    next(url, url.endsWith('.json') ? { ...context, importAttributes: { type: 'json' } } : context),
});

const { convertWorkflowTemplate, NoOperationTraceWriter, parseWorkflow } = await import('@actions/workflow-parser');
const { convertActionTemplate, parseAction } = await import('@actions/workflow-parser/actions/index');

/** What is wrong with a workflow, one line each, with `name` and the place. */
export async function workflowFaults(name: string, content: string): Promise<string[]> {
  const { context, value } = parseWorkflow({ name, content }, new NoOperationTraceWriter());
  // The schema says what a job may have; whether a job that it waits for exists is found here.
  if (value !== undefined) await convertWorkflowTemplate(context, value);
  return context.errors.getErrors().map(({ message }) => message);
}

/** The same for an action.yml. */
export function actionFaults(name: string, content: string): string[] {
  const { context, value } = parseAction({ name, content }, new NoOperationTraceWriter());
  if (value !== undefined) convertActionTemplate(context, value);
  return context.errors.getErrors().map(({ message }) => message);
}

/** A piece of YAML from a page, as a whole workflow: a list is one of steps. */
export interface Snippet {
  readonly line: number;
  readonly workflow: string;
}

/** The ```yaml blocks of a page in Markdown. */
export function snippets(markdown: string): Snippet[] {
  return [...markdown.matchAll(/^```ya?ml\n(.*?)^```$/gms)].map((match) => {
    const text = match[1] ?? '';
    const steps = `on: push\njobs:\n  job:\n    runs-on: ubuntu-latest\n    steps:\n${text.replaceAll(/^(?=.)/gm, '      ')}`;
    return {
      line: markdown.slice(0, match.index).split('\n').length,
      workflow: text.trimStart().startsWith('- ') ? steps : text,
    };
  });
}

/** Files with an ending below a folder, as paths from the root of the repository. */
function filesOf(folder: string, ending: RegExp): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && ending.test(entry.name))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
    .sort();
}

/** Every workflow of the repository, whole files and snippets, by a name for messages. */
export function workflows(): ReadonlyMap<string, string> {
  const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8').replaceAll('\r\n', '\n');
  const found = new Map<string, string>();
  for (const path of [...filesOf('.github/workflows', /\.ya?ml$/), ...filesOf('docs/examples', /\.ya?ml$/)]) {
    found.set(path, read(path));
  }
  for (const path of ['README.md', ...filesOf('docs', /\.md$/)]) {
    for (const { line, workflow } of snippets(read(path))) found.set(`${path}, snippet at line ${line}`, workflow);
  }
  return found;
}

async function main(): Promise<void> {
  const faults = actionFaults('action.yml', readFileSync(join(ROOT, 'action.yml'), 'utf8'));
  const all = workflows();
  for (const [name, content] of all) faults.push(...(await workflowFaults(name, content)));
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) process.exitCode = 1;
  else console.log(`action.yml and ${all.size} workflows are as GitHub has them`);
}

if (import.meta.main) await main();
