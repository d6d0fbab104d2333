/**
 * Runs the action as a runner does: as a child process with INPUT_*, GITHUB_* and RUNNER_TEMP, its results read from the
 * runner's files. By default the sources run (see programs.ts), so that a test shows what was just changed; with TEST_DIST=1
 * the committed bundles run, which CI also proves to be built from these sources.
 */
import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { programPath } from '../support/programs.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** The file that a phase starts from. */
export function entryPoint(phase: 'main' | 'post'): string {
  return process.env['TEST_DIST'] === '1' ? join(ROOT, 'dist', phase, 'index.js') : programPath(phase);
}

interface ActionMetadata {
  readonly inputs: Readonly<Record<string, { readonly default?: unknown }>>;
}

/** The defaults of action.yml as the runner passes them; those that are expressions are left to the test. */
function inputDefaults(): Record<string, string> {
  const { inputs } = parse(readFileSync(join(ROOT, 'action.yml'), 'utf8')) as ActionMetadata;
  return Object.fromEntries(
    Object.entries(inputs).map(([name, { default: value }]) => {
      const text =
        typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
      return [name, text.startsWith('${{') ? '' : text];
    }),
  );
}

/** What a step is started with. */
export interface StepOptions {
  readonly inputs?: Readonly<Record<string, string>>;
  /** On top of what the runner sets; undefined removes. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The payload of the event. */
  readonly event?: unknown;
  /** For runs that are to be stopped. */
  readonly signal?: AbortSignal;
  /** How the child is stopped. */
  readonly killSignal?: NodeJS.Signals;
}

/** A workflow command that the step printed. */
export interface RunnerCommand {
  readonly name: string;
  readonly properties: Readonly<Record<string, string>>;
  readonly message: string;
}

export interface StepResult {
  readonly exitCode: number | null;
  /** What a user sees: standard output without the commands that mask a value. */
  readonly log: string;
  readonly commands: readonly RunnerCommand[];
  /** Messages of `::error::`. */
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
  /** Values that the runner was told to mask. */
  readonly masks: readonly string[];
  readonly stderr: string;
  readonly outputs: Readonly<Record<string, string>>;
  readonly state: Readonly<Record<string, string>>;
  readonly summary: string;
  /** The git commands that were echoed, without `git`. */
  readonly gitCommands: readonly string[];
}

/** `name<<delimiter`, value, delimiter: how the toolkit writes outputs and state. */
function parseFileCommands(text: string): Record<string, string> {
  const values: Record<string, string> = {};
  const lines = text.split('\n');
  for (let at = 0; at < lines.length; at++) {
    const match = /^(.+?)<<(.+)$/.exec(lines[at]!);
    if (match === null) continue;
    const end = lines.indexOf(match[2]!, at + 1);
    values[match[1]!] = lines.slice(at + 1, end).join('\n');
    at = end;
  }
  return values;
}

function unescape(text: string): string {
  return text
    .replaceAll('%3A', ':')
    .replaceAll('%2C', ',')
    .replaceAll('%0D', '\r')
    .replaceAll('%0A', '\n')
    .replaceAll('%25', '%');
}

function parseCommands(log: string): RunnerCommand[] {
  const commands: RunnerCommand[] = [];
  for (const line of log.split('\n')) {
    const match = /^::([a-z-]+)(?: ([^:]*))?::(.*)$/.exec(line);
    if (match === null) continue;
    const properties: Record<string, string> = {};
    for (const pair of (match[2] ?? '').split(',')) {
      const equals = pair.indexOf('=');
      if (equals > 0) properties[pair.slice(0, equals)] = unescape(pair.slice(equals + 1));
    }
    commands.push({ name: match[1]!, properties, message: unescape(match[3]!) });
  }
  return commands;
}

/** A runner with a workspace and a temporary directory of its own. */
export class TestRunner {
  readonly root: string;
  readonly workspace: string;
  readonly temp: string;
  readonly home: string;
  readonly serverUrl: string;
  readonly repository: string;

  constructor(serverUrl: string, repository: string) {
    this.root = realpathSync(mkdtempSync(join(tmpdir(), 'parallel-checkout-action-')));
    this.workspace = join(this.root, 'work', 'repo');
    this.temp = join(this.root, 'temp');
    this.home = join(this.root, 'home');
    for (const directory of [this.workspace, this.temp, this.home]) mkdirSync(directory, { recursive: true });
    writeFileSync(join(this.home, '.gitconfig'), '[user]\n\tname = A Tester\n\temail = tester@example.com\n');
    this.serverUrl = serverUrl;
    this.repository = repository;
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }

  /** The environment that a job's steps see, for git commands of the test too. */
  get environment(): Record<string, string> {
    const kept = ['PATH', 'LANG', 'TMPDIR', 'SYSTEMROOT', 'COMSPEC', 'PATHEXT', 'TEMP', 'TMP'];
    const environment: Record<string, string> = {};
    for (const name of kept) {
      const value = process.env[name];
      if (value !== undefined) environment[name] = value;
    }
    return {
      ...environment,
      HOME: this.home,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_TEST_FSYNC: '0',
      GITHUB_WORKSPACE: this.workspace,
      GITHUB_REPOSITORY: this.repository,
      GITHUB_SERVER_URL: this.serverUrl,
      RUNNER_TEMP: this.temp,
      // Sources start in 0.1 s with it and in 0.3 s without.
      NODE_COMPILE_CACHE: join(ROOT, '.cache', 'node-compile'),
    };
  }

  main(options: StepOptions = {}): Promise<StepResult> {
    const inputs = { ...inputDefaults(), repository: this.repository, token: 'a-token', ...options.inputs };
    const env: Record<string, string | undefined> = {};
    for (const [name, value] of Object.entries(inputs)) env[`INPUT_${name.toUpperCase()}`] = value;
    return this.#run('main', { ...options, env: { ...env, ...options.env } });
  }

  /** The post phase of a main phase. */
  post(main: Pick<StepResult, 'state'>, options: StepOptions = {}): Promise<StepResult> {
    const env: Record<string, string | undefined> = {};
    for (const [name, value] of Object.entries(main.state)) env[`STATE_${name}`] = value;
    return this.#run('post', { ...options, env: { ...env, ...options.env } });
  }

  async #run(phase: 'main' | 'post', options: StepOptions): Promise<StepResult> {
    const files = mkdtempSync(join(this.root, 'commands-'));
    const file = (name: string): string => {
      const path = join(files, name);
      writeFileSync(path, '');
      return path;
    };
    const eventPath = file('event.json');
    writeFileSync(eventPath, JSON.stringify(options.event ?? {}));
    const paths = { output: file('output'), state: file('state'), summary: file('summary') };
    const environment: Record<string, string> = {
      ...this.environment,
      GITHUB_OUTPUT: paths.output,
      GITHUB_STATE: paths.state,
      GITHUB_STEP_SUMMARY: paths.summary,
      GITHUB_EVENT_PATH: eventPath,
      GITHUB_EVENT_NAME: 'push',
    };
    for (const [name, value] of Object.entries(options.env ?? {})) {
      if (value === undefined) Reflect.deleteProperty(environment, name);
      else environment[name] = value;
    }
    const { exitCode, stdout, stderr } = await new Promise<{ exitCode: number | null; stdout: string; stderr: string }>(
      (resolve, reject) => {
        const child = spawn(process.execPath, [entryPoint(phase)], { env: environment, cwd: this.root });
        let stdout = '';
        let stderr = '';
        child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
        child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
        options.signal?.addEventListener('abort', () => child.kill(options.killSignal ?? 'SIGINT'));
        child.once('error', reject);
        child.once('close', (code) => resolve({ exitCode: code, stdout, stderr }));
      },
    );
    const commands = parseCommands(stdout);
    const messages = (name: string): string[] =>
      commands.filter((command) => command.name === name).map(({ message }) => message);
    const visible = stdout.split('\n').filter((line) => !line.startsWith('::add-mask::'));
    return {
      exitCode,
      log: visible.join('\n'),
      commands,
      errors: messages('error'),
      warnings: messages('warning'),
      masks: messages('add-mask'),
      stderr,
      outputs: parseFileCommands(readFileSync(paths.output, 'utf8')),
      state: parseFileCommands(readFileSync(paths.state, 'utf8')),
      summary: readFileSync(paths.summary, 'utf8'),
      gitCommands: visible
        .filter((line) => line.startsWith('[command]git '))
        .map((line) => line.slice('[command]git '.length)),
    };
  }
}

/** Every file below a directory, links not followed. */
export function filesBelow(directory: string): string[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** The files below a directory that hold one of the texts; how a test looks for secrets. */
export function filesHolding(directory: string, texts: readonly string[]): string[] {
  return filesBelow(directory).filter((path) => {
    const content = readFileSync(path);
    return texts.some((text) => content.includes(text));
  });
}
