/**
 * Runs git as a child process: no shell, output bounded, and a promise that settles whatever the child does. The last
 * point takes care: a helper that git leaves behind (the credential cache daemon) may hold the output pipes open for
 * ever, so the end of the process counts, not the end of its pipes.
 */
import { spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { constants } from 'node:os';
import { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { CheckoutError, errnoOf } from '../errors.ts';
import { processEnvironment } from '../gitdir/environment.ts';
import { gitProgram } from '../gitdir/git-executable.ts';
import { descendantsOf, listProcesses, type ProcessInfo, signalProcess } from '../host/processes.ts';
import type { GitCall, GitResult } from '../settings.ts';

/** Bound of collected standard output. `git config --list` of a thousand repositories is far below; a runaway is not. */
export const MAX_STDOUT_BYTES = 64 * 1024 * 1024;

/** How much of standard error is kept, from its end. */
const MAX_STDERR_BYTES = 64 * 1024;

/** After an abort git gets this long to remove its temporary and lock files before it is killed. */
const TERMINATION_GRACE_MS = 5000;

/** After the process has ended, how long its pipes may stay silent before they are given up. */
const SILENT_PIPE_MS = 300;

/**
 * Makes git write the headers of its HTTP requests to descriptor 3: a pipe, never a file, since not every git redacts all that
 * is secret in them.
 */
const TRACE_HEADERS: Readonly<Record<string, string>> = { GIT_TRACE_CURL: '3', GIT_TRACE_CURL_NO_DATA: '1' };

/** The last `limit` bytes of a stream. */
class Tail {
  private chunks: Buffer[] = [];
  private length = 0;
  private readonly limit: number;

  constructor(limit: number) {
    this.limit = limit;
  }

  push(chunk: Buffer): void {
    this.chunks.push(chunk);
    this.length += chunk.length;
    // Whole chunks go once the rest suffices, so that the kept memory stays below twice the limit.
    while (this.chunks.length > 1 && this.length - this.chunks[0]!.length >= this.limit) {
      this.length -= this.chunks.shift()!.length;
    }
  }

  text(): string {
    const all = Buffer.concat(this.chunks);
    return all.subarray(Math.max(0, all.length - this.limit)).toString('utf8');
  }
}

/** Cuts a stream into lines at LF and CR (progress meters use CR); a line longer than the limit is cut there. */
export class LineSplitter {
  private readonly decoder = new StringDecoder('utf8');
  private rest = '';
  private readonly emit: (line: string) => void;

  constructor(emit: (line: string) => void) {
    this.emit = emit;
  }

  push(chunk: Buffer): void {
    const lines = (this.rest + this.decoder.write(chunk)).split(/[\r\n]/);
    this.rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') this.emit(line);
    if (this.rest.length > MAX_STDERR_BYTES) {
      this.emit(this.rest);
      this.rest = '';
    }
  }

  end(): void {
    this.rest += this.decoder.end();
    if (this.rest !== '') this.emit(this.rest);
    this.rest = '';
  }
}

/** Why a process could not be started. ENOENT is said of a missing program and of a missing directory alike. */
function startError(error: unknown, cwd: string | undefined): CheckoutError {
  const errno = errnoOf(error);
  if (cwd !== undefined && statSync(cwd, { throwIfNoEntry: false })?.isDirectory() !== true) {
    return new CheckoutError('io', `cannot run git in '${cwd}': no such directory`, { path: cwd, errno: 'ENOENT' });
  }
  if (errno === 'ENOENT') {
    return new CheckoutError('git-missing', 'git is not installed or not in PATH', { errno }, error);
  }
  return new CheckoutError(
    'git-missing',
    `cannot start git: ${errno ?? String(error)}`,
    errno === undefined ? {} : { errno },
    error,
  );
}

/** git's own options whose value is the next argument, from git(1); all others carry theirs behind a '='. */
const OPTIONS_WITH_VALUE = new Set([
  '-c',
  '-C',
  '--attr-source',
  '--config-env',
  '--git-dir',
  '--namespace',
  '--super-prefix',
  '--work-tree',
]);

/** The command as messages call it, 'git fetch': without git's own options before it, nor the command's after it. */
function nameOf(args: readonly string[]): string {
  let at = 0;
  while (args[at]?.startsWith('-') === true) at += OPTIONS_WITH_VALUE.has(args[at] ?? '') ? 2 : 1;
  const command = args[at];
  return command === undefined ? 'git' : `git ${command}`;
}

/**
 * Runs `git ARGS` and collects what it prints. Any exit status is a result, not an error.
 *
 * @throws CheckoutError 'git-missing' when git cannot be started, 'io' when `cwd` is not a directory, 'git-failed' when
 *   it prints more than MAX_STDOUT_BYTES, 'interrupted' once it has ended after `signal` was aborted
 */
export function spawnGit(call: GitCall): Promise<GitResult> {
  return new Promise((resolve, reject) => {
    const { signal } = call;
    const what = nameOf(call.args);
    const interrupted = (): CheckoutError => new CheckoutError('interrupted', `${what} was interrupted`);
    if (signal?.aborted === true) {
      reject(interrupted());
      return;
    }
    const environment = { ...processEnvironment(), ...call.env };
    const { onHttpTraceLine } = call;
    // git inherits no such descriptor on Windows.
    const isTraced =
      onHttpTraceLine !== undefined && process.platform !== 'win32' && environment['GIT_TRACE_CURL'] === undefined;
    const program = gitProgram(environment, process.platform);
    if (program === null) {
      reject(startError(Object.assign(new Error('not found'), { code: 'ENOENT' }), call.cwd));
      return;
    }

    let child;
    try {
      child = spawn(program, call.args, {
        cwd: call.cwd,
        env: isTraced ? { ...environment, ...TRACE_HEADERS } : environment,
        stdio: [call.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe', ...(isTraced ? ['pipe' as const] : [])],
        windowsHide: true,
      });
    } catch (error) {
      // An argument with a NUL byte, or one that is too long, is refused before anything runs.
      reject(startError(error, call.cwd));
      return;
    }
    const { stdin } = child;
    // null where a stream is not piped, says the type; undefined when spawn fails for want of descriptors, and then
    // 'error' follows.
    const stdout = child.stdout as typeof child.stdout | undefined;
    const stderr = child.stderr as typeof child.stderr | undefined;
    if (stdout === null || stdout === undefined || stderr === null || stderr === undefined) {
      child.once('error', (error) => reject(startError(error, call.cwd)));
      return;
    }

    if (child.pid !== undefined) call.onStart?.(child.pid);
    const out: Buffer[] = [];
    let outLength = 0;
    const tail = new Tail(MAX_STDERR_BYTES);
    const lines = call.onStderrLine === undefined ? null : new LineSplitter(call.onStderrLine);
    const trace = child.stdio[3] instanceof Readable ? child.stdio[3] : null;
    const traceLines = onHttpTraceLine === undefined ? null : new LineSplitter(onHttpTraceLine);
    let failure: CheckoutError | null = null;
    let ended: { code: number | null; signal: NodeJS.Signals | null } | null = null;
    let killTimer: NodeJS.Timeout | undefined;
    let pipeTimer: NodeJS.Timeout | undefined;
    let settled = false;

    // git ends and leaves what it started: what waits for a server would go on waiting, with our pipes open.
    let helpers: readonly ProcessInfo[] = [];
    const stopHelpers = (helperSignal: NodeJS.Signals): void => {
      for (const helper of helpers) signalProcess(helper, helperSignal);
    };
    const stop = (reason: CheckoutError): void => {
      if (failure !== null) return;
      failure = reason;
      helpers = child.pid === undefined ? [] : descendantsOf(child.pid, listProcesses());
      // git first, to remove its temporary and lock files.
      child.kill('SIGTERM');
      killTimer = setTimeout(() => {
        child.kill('SIGKILL');
        stopHelpers('SIGKILL');
      }, TERMINATION_GRACE_MS);
    };
    const onAbort = (): void => stop(interrupted());
    const finish = (settle: () => void): void => {
      if (settled) return;
      settled = true;
      clearTimeout(killTimer);
      clearTimeout(pipeTimer);
      // They were asked, and git is gone.
      stopHelpers('SIGKILL');
      signal?.removeEventListener('abort', onAbort);
      stdout.destroy();
      stderr.destroy();
      trace?.destroy();
      settle();
    };
    const complete = (): void => {
      finish(() => {
        lines?.end();
        traceLines?.end();
        if (failure !== null) {
          reject(failure);
          return;
        }
        const killedBy = ended?.signal ?? null;
        const exitCode = ended?.code ?? 128 + (killedBy === null ? 0 : constants.signals[killedBy]);
        resolve({ exitCode, stdout: Buffer.concat(out), stderr: tail.text() });
      });
    };
    const waitForPipes = (): void => {
      if (ended === null) return;
      clearTimeout(pipeTimer);
      pipeTimer = setTimeout(complete, SILENT_PIPE_MS);
    };

    signal?.addEventListener('abort', onAbort, { once: true });
    stdout.on('data', (chunk: Buffer) => {
      outLength += chunk.length;
      if (outLength > MAX_STDOUT_BYTES) {
        out.length = 0;
        stop(new CheckoutError('git-failed', `${what} printed more than ${MAX_STDOUT_BYTES} bytes`));
      } else {
        out.push(chunk);
      }
      waitForPipes();
    });
    stderr.on('data', (chunk: Buffer) => {
      tail.push(chunk);
      lines?.push(chunk);
      waitForPipes();
    });
    trace?.on('data', (chunk: Buffer) => {
      traceLines?.push(chunk);
      waitForPipes();
    });
    // A read error on a pipe ends its output early; the exit status still tells how git fared.
    stdout.on('error', waitForPipes);
    stderr.on('error', waitForPipes);
    trace?.on('error', waitForPipes);
    child.once('error', (error) => finish(() => reject(startError(error, call.cwd))));
    child.once('exit', (code, exitSignal) => {
      ended = { code, signal: exitSignal };
      stopHelpers('SIGTERM');
      waitForPipes();
    });
    child.once('close', complete);
    if (stdin !== null) {
      // git may end without reading all of its input; its exit status says why.
      stdin.on('error', () => undefined);
      stdin.end(call.input);
    }
  });
}
