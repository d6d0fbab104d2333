// Builds the four bundles of dist/, which are committed: the runner executes them as they are, and so can anybody who has
// cloned the repository. `--check` builds to one side and fails if dist/ differs from what was built.
//
// The result depends on nothing but the sources and package-lock.json: not on the folder, the date or the machine.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import ncc, { type Chunk, type Module } from '@vercel/ncc';
import { licenceFile, readPackage, type ShippedPackage } from './licenses.ts';

const ROOT = join(import.meta.dirname, '..');
const BUILD = join(ROOT, 'build');
const COMPILED = join(BUILD, 'js');

// dist/<name>/index.js and the module it starts from. action.yml, package.json and the engine (which finds the worker at
// ../worker/index.js from its own bundle) rely on these names.
const BUNDLES = [
  { name: 'main', entry: 'action/main.js' },
  { name: 'post', entry: 'action/post.js' },
  { name: 'worker', entry: 'engine/checkout/worker.js' },
  { name: 'cli', entry: 'cli/index.js' },
] as const;

// @actions/core and what it depends on. Importing these has no effect but to define what
// they export, though their package.json does not say so. Told this, webpack leaves out what we do not use of them: above
// all undici, which @actions/core pulls in for OIDC tokens. Measured on a bundle that prints a line through @actions/core
// (Node 24.21, median of 15): 1062 KB and 63 ms without, 34 KB and 27 ms with; Node itself starts in 22 ms.
const FREE_OF_SIDE_EFFECTS = ['@actions/core', '@actions/exec', '@actions/http-client', '@actions/io'];

// Every module by itself (webpack otherwise groups and shortens the list), and the chunks with their names.
const STATS = {
  all: false,
  chunks: true,
  ids: true,
  modules: true,
  nestedModules: true,
  modulesSpace: Infinity,
  nestedModulesSpace: Infinity,
  groupModulesByAttributes: false,
  groupModulesByCacheStatus: false,
  groupModulesByExtension: false,
  groupModulesByLayer: false,
  groupModulesByPath: false,
  groupModulesByType: false,
};

function compile(): void {
  rmSync(COMPILED, { recursive: true, force: true });
  try {
    execFileSync(process.execPath, [join(ROOT, 'node_modules/typescript/lib/tsc.js'), '-p', 'tsconfig.build.json'], {
      cwd: ROOT,
      stdio: 'inherit',
    });
  } catch {
    throw new Error('the sources do not compile');
  }
}

/** Lays copies of the packages where the compiled modules find them first, marked as free of side effects. */
function markPackages(): void {
  const target = join(BUILD, 'node_modules');
  rmSync(target, { recursive: true, force: true });
  for (const name of FREE_OF_SIDE_EFFECTS) {
    const copy = join(target, name);
    cpSync(join(ROOT, 'node_modules', name), copy, { recursive: true });
    const file = join(copy, 'package.json');
    const content = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
    writeFileSync(file, JSON.stringify({ ...content, sideEffects: false }));
  }
}

/** The folder of the package that a bundled file belongs to, or nothing if it is ours. */
function packageFolder(file: string): string | undefined {
  const mark = `${sep}node_modules${sep}`;
  const at = file.lastIndexOf(mark);
  if (at < 0) return undefined;
  const [scope = '', name = ''] = file.slice(at + mark.length).split(sep);
  return file.slice(0, at + mark.length) + (scope.startsWith('@') ? join(scope, name) : scope);
}

function collectFolders(modules: readonly Module[] | undefined, folders: Set<string>): void {
  for (const module of modules ?? []) {
    const folder = packageFolder(module.nameForCondition ?? '');
    if (folder !== undefined) folders.add(folder);
    collectFolders(module.modules, folders);
  }
}

/**
 * Names for the chunks that a dynamic import() becomes. webpack numbers them by a hash; a fixed name keeps the history of
 * dist/ readable. An import() names its chunk by a comment, `import(/* webpackChunkName: "cache" *\/ './cache.ts')`;
 * what several chunks share, or a chunk takes from libraries, is numbered.
 */
function chunkNames(chunks: readonly Chunk[]): Map<number, string> {
  const names = new Map<number, string>();
  let shared = 0;
  for (const { id, names: given, files } of [...chunks].sort((a, b) => a.id - b.id)) {
    if (files.includes('index.js')) continue;
    const name = given[0] ?? `shared-${++shared}`;
    if (!/^[a-z][a-z0-9-]*$/.test(name) || name === 'index') throw new Error(`"${name}" cannot name a file of dist/`);
    names.set(id, name);
  }
  return names;
}

/** Makes the code that loads a chunk ask for it by its name. */
function nameChunks(code: string, names: ReadonlyMap<number, string>): string {
  if (names.size === 0) return code;
  const before = 'return "" + chunkId + ".index.js";';
  if (code.split(before).length !== 2)
    throw new Error('the bundler no longer names chunks as scripts/build.ts expects');
  return code.replace(before, () => `return ${JSON.stringify(Object.fromEntries(names))}[chunkId] + ".js";`);
}

/** Builds one bundle and adds the packages that it contains to `folders`. */
async function bundle(name: string, entry: string, out: string, folders: Set<string>): Promise<void> {
  const { code, assets, stats } = await ncc(join(COMPILED, entry), {
    cache: false,
    quiet: true,
    // Readable bundles can be reviewed; minified ones are smaller by half but no faster to start (63 ms against 71 ms).
    minify: false,
    sourceMap: false,
    target: 'es2022',
  });
  const { modules, chunks } = stats.toJson(STATS);
  const names = chunkNames(chunks ?? []);
  const files = new Map<string, string | Buffer>([['index.js', nameChunks(code, names)]]);
  for (const [file, asset] of Object.entries(assets)) {
    const id = /^(\d+)\.index\.js$/.exec(file)?.[1];
    const chunk = id === undefined ? undefined : names.get(Number(id));
    if (chunk !== undefined) files.set(`${chunk}.js`, asset.source);
    // ncc adds {"type":"module"}, so that the folder works wherever it is copied.
    else if (file === 'package.json') files.set(file, asset.source);
    else throw new Error(`bundle ${name} emits a file that nobody asked for: ${file}`);
  }
  // The engine looks for the worker beside its own bundle, so this must still be the bundle's address at run time.
  if (code.includes(pathToFileURL(ROOT).href)) throw new Error(`bundle ${name} contains the path of this folder`);

  for (const [file, content] of files) {
    const path = join(out, name, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
  collectFolders(modules, folders);
}

async function build(out: string): Promise<void> {
  compile();
  markPackages();
  rmSync(out, { recursive: true, force: true });
  const folders = new Set<string>();
  for (const { name, entry } of BUNDLES) await bundle(name, entry, out, folders);

  const packages = new Map<string, ShippedPackage>();
  for (const folder of folders) {
    const shipped = readPackage(folder);
    packages.set(`${shipped.name}@${shipped.version}`, shipped);
  }
  writeFileSync(join(out, 'licenses.txt'), licenceFile([...packages.values()]));
}

function listFiles(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll(sep, '/'))
    .sort();
}

/** The names of the files that are in only one of two folders or differ between them. */
export function differences(left: string, right: string): string[] {
  const names = [...new Set([...listFiles(left), ...listFiles(right)])].sort();
  return names.filter((name) => {
    const [a, b] = [join(left, name), join(right, name)];
    return !existsSync(a) || !existsSync(b) || !readFileSync(a).equals(readFileSync(b));
  });
}

async function main(check: boolean): Promise<void> {
  const dist = join(ROOT, 'dist');
  if (!check) {
    await build(dist);
    for (const file of listFiles(dist)) console.log(`dist/${file} ${readFileSync(join(dist, file)).length} bytes`);
    return;
  }
  const fresh = join(BUILD, 'dist');
  await build(fresh);
  const differing = differences(dist, fresh);
  if (differing.length > 0) {
    for (const name of differing) console.error(`dist/${name} is not what the sources give`);
    console.error('run: npm ci && npm run build, and commit dist/ on its own');
    process.exitCode = 1;
  } else {
    console.log(`dist/ is what the sources give (${listFiles(dist).length} files)`);
  }
}

if (import.meta.main) {
  try {
    await main(process.argv.includes('--check'));
  } catch (error) {
    console.error(`build: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  }
}
