/**
 * Runs the programs around a measurement (git, mkfs, mount, apt-get). Not the measured runs themselves: see measure.ts.
 */
import { spawn } from 'node:child_process';
import { openSync, closeSync } from 'node:fs';

export interface RunOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** Written to the program's standard input. */
  input?: Buffer | string;
  /** A file that takes standard output instead of the returned string. */
  outputFile?: string;
}

/**
 * The environment for every git that the benchmark starts: no configuration but the repository's own, no prompts, English
 * messages. Competitors get it too, so that a developer's ~/.gitconfig does not decide a race.
 */
export function gitEnvironment(): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = {};
  for (const [name, value] of Object.entries(process.env)) {
    if (/^(GIT_|GITHUB_|INPUT_|RUNNER_|STATE_|NODE_OPTIONS$|npm_)/.test(name)) continue;
    env[name] = value;
  }
  return {
    ...env,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    LC_ALL: 'C',
  };
}

/** Runs a program and returns its standard output. Fails, with the tail of standard error, unless the exit status is 0. */
export function run(program: string, args: string[], options: RunOptions = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const output = options.outputFile === undefined ? undefined : openSync(options.outputFile, 'w');
    const child = spawn(program, args, {
      cwd: options.cwd,
      env: options.env ?? gitEnvironment(),
      stdio: [options.input === undefined ? 'ignore' : 'pipe', output ?? 'pipe', 'pipe'],
    });
    if (output !== undefined) closeSync(output);
    const stdout: Buffer[] = [];
    let stderr = '';
    child.stdout?.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr?.on('data', (chunk: Buffer) => {
      stderr = (stderr + chunk.toString()).slice(-4000);
    });
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (code === 0) resolve(Buffer.concat(stdout).toString());
      else reject(new Error(`${program} ${args.join(' ')}: ended with ${signal ?? String(code)}\n${stderr.trim()}`));
    });
    if (options.input !== undefined) {
      // A program that stops reading early is reported by its exit status, with its own words.
      child.stdin?.on('error', () => undefined);
      child.stdin?.end(options.input);
    }
  });
}

/** Runs git with the benchmark's environment and returns its standard output. */
export function git(args: string[], options: RunOptions = {}): Promise<string> {
  return run('git', args, options);
}
