// Import direction, enforced by `npm run check:imports`. Within src/engine a file imports from its own folder and from
// folders that stand before it in ENGINE_FOLDERS; engine.ts alone imports them all. src/action and src/cli see the engine
// through its front door.

// The order is the flow of a checkout: what is known, what is decided, what is done, what is told.
const ENGINE_FOLDERS = [
  'object',
  'pack',
  'odb',
  'index',
  'attributes',
  'filter',
  'sparse',
  'config',
  'refs',
  'gitdir',
  'plan',
  'host',
  'fetch',
  'worktree',
  'driver',
  'checkout',
  'report',
  'run',
  'submodules',
];

// Types and small values that every folder may import.
const ENGINE_BASE = '^src/engine/(settings|host-facts|errors|oid|bytes|cost)\\.ts$';

// What the action and the command line program may import.
const ENGINE_FRONT = '^src/engine/((engine|errors|settings|setting-values)\\.ts$|report/)';

/** @type {import('dependency-cruiser').IForbiddenRuleType[]} */
const forbidden = [
  ...ENGINE_FOLDERS.map((folder, place) => ({
    name: `engine-${folder}-imports-earlier-folders-only`,
    comment: `src/engine/${folder} imports from itself, from the base files and from: ${ENGINE_FOLDERS.slice(0, place).join(' ')}`,
    severity: /** @type {const} */ ('error'),
    from: { path: `^src/engine/${folder}/` },
    to: {
      path: '^src/',
      pathNot: [ENGINE_BASE, `^src/engine/(${ENGINE_FOLDERS.slice(0, place + 1).join('|')})/`],
    },
  })),
  {
    name: 'engine-folder-is-known',
    comment: 'A new folder in src/engine needs its place in the order in .dependency-cruiser.js.',
    severity: 'error',
    from: { path: '^src/engine/[^/]+/', pathNot: `^src/engine/(${ENGINE_FOLDERS.join('|')})/` },
    to: {},
  },
  {
    name: 'engine-base-imports-base-only',
    comment: 'A top-level file of src/engine other than engine.ts imports only its like.',
    severity: 'error',
    from: { path: '^src/engine/[^/]+\\.ts$', pathNot: '^src/engine/engine\\.ts$' },
    to: { path: '^src/', pathNot: ENGINE_BASE },
  },
  {
    name: 'engine-knows-no-front-end',
    comment: 'src/engine is a library: it imports neither the action nor the command line program.',
    severity: 'error',
    from: { path: '^src/engine/' },
    to: { path: '^src/(action|cli)/' },
  },
  {
    name: 'engine-knows-no-actions-library',
    comment: 'src/engine knows nothing of GitHub Actions.',
    severity: 'error',
    from: { path: '^src/engine/' },
    to: { path: '(^|/)@actions/' },
  },
  {
    name: 'front-ends-use-the-front-door',
    comment:
      'src/action and src/cli import of the engine: engine.ts, errors.ts, settings.ts, setting-values.ts, report/.',
    severity: 'error',
    from: { path: '^src/(action|cli)/' },
    to: { path: '^src/engine/', pathNot: ENGINE_FRONT },
  },
  {
    name: 'front-ends-are-separate',
    comment: 'The action and the command line program do not import each other.',
    severity: 'error',
    from: { path: '^src/(action|cli)/' },
    to: { path: '^src/(action|cli)/', pathNot: '^src/$1/' },
  },
  {
    name: 'no-cycles',
    comment: 'Files that import each other cannot be understood one at a time.',
    severity: 'error',
    from: {},
    to: { circular: true },
  },
  {
    name: 'declared-dependencies-only',
    comment: 'src imports only what package.json lists under dependencies.',
    severity: 'error',
    from: { path: '^src/' },
    to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'] },
  },
  {
    name: 'imports-resolve',
    comment: 'The imported file exists.',
    severity: 'error',
    from: {},
    to: { couldNotResolve: true },
  },
];

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden,
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.js'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'node'],
    },
    skipAnalysisNotInRules: true,
  },
};
