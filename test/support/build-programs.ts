/**
 * Bundles the programs for the tests, before the first of them. A test that starts one from its sources waits for a hundred
 * files each time: the action needs 165 ms of processor time to come to its first line, bundled 65 ms; the command line
 * program 112 and 45 ms; a worker thread 45 and 28 ms. Bundling takes half a second, once. TEST_SOURCES=1 does without;
 * for TEST_DIST=1, see run-action.ts.
 */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { build, type Rolldown } from 'vite';
import { COMPILED, PROGRAMS } from './programs.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const FOLDER = join(ROOT, 'node_modules', '.cache', 'test-programs');
const OLD_MS = 24 * 60 * 60 * 1000;

/**
 * Bundles what the sources are now. The folder is named after its content, so that what Node compiled of it is of use to
 * the next run too. Returns the folder: `<program>/index.js` is in it, as in dist/.
 */
export async function buildPrograms(): Promise<string> {
  const built = await build({
    root: ROOT,
    configFile: false,
    logLevel: 'warn',
    ssr: { noExternal: true },
    build: {
      ssr: true,
      write: false,
      minify: false,
      target: 'node20',
      rolldownOptions: {
        input: Object.fromEntries(Object.entries(PROGRAMS).map(([name, source]) => [name, join(ROOT, source)])),
        preserveEntrySignatures: 'strict',
        output: {
          format: 'esm',
          entryFileNames: '[name]/index.js',
          // The engine finds the worker at ../worker/index.js from where it is itself.
          chunkFileNames: 'shared/[name]-[hash].js',
        },
      },
    },
  });
  const files = (built as Rolldown.RolldownOutput).output.map((file) => ({
    name: file.fileName,
    content: file.type === 'chunk' ? file.code : file.source,
  }));
  const hash = createHash('sha256');
  for (const { name, content } of files) hash.update(name).update('\0').update(content).update('\0');
  const folder = join(FOLDER, hash.digest('hex').slice(0, 16));
  mkdirSync(FOLDER, { recursive: true });
  removeOld();
  // Made to one side: another run of the tests may do the same at this moment.
  const made = mkdtempSync(join(FOLDER, 'made-'));
  // Another user runs them, too.
  chmodSync(made, 0o755);
  for (const { name, content } of [{ name: 'package.json', content: '{ "type": "module" }\n' }, ...files]) {
    mkdirSync(dirname(join(made, name)), { recursive: true });
    writeFileSync(join(made, name), content);
  }
  try {
    renameSync(made, folder);
  } catch {
    // The same content is there already.
    rmSync(made, { recursive: true, force: true });
    const now = new Date();
    utimesSync(folder, now, now);
  }
  return folder;
}

/** Those that no run of the tests still uses. */
function removeOld(): void {
  for (const name of readdirSync(FOLDER)) {
    const path = join(FOLDER, name);
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat !== undefined && Date.now() - stat.mtimeMs > OLD_MS) rmSync(path, { recursive: true, force: true });
  }
}

/** What of vitest's project is used. */
interface Project {
  onTestsRerun(callback: () => Promise<void>): void;
}

/** vitest's global setup; the processes of the tests inherit the variable. */
export async function setup(project: Project): Promise<void> {
  // For vitest in each of its processes too.
  process.env['NODE_COMPILE_CACHE'] ??= COMPILED;
  if (process.env['TEST_SOURCES'] === '1') return;
  const make = async (): Promise<void> => {
    process.env['TEST_PROGRAMS'] = await buildPrograms();
  };
  await make();
  project.onTestsRerun(make);
}
