// A world and an engine for the commands that remember what they were given.
import type { CliIo, EngineDoor } from '../../../src/cli/io.ts';
import type { Plan, Report } from '../../../src/engine/report/report.ts';
import type {
  CheckoutRequest,
  CloneRequest,
  EnginePorts,
  GitProcess,
  PlanRequest,
} from '../../../src/engine/settings.ts';

export class FakeIo implements CliIo {
  readonly cwd = '/home/user/repository';
  out = '';
  err = '';
  readonly files = new Map<string, string>();
  existing = new Set<string>();
  clock = 0;
  readonly controller = new AbortController();
  stdoutError: Error | undefined;
  fileError: Error | undefined;
  readonly stdout;
  readonly stderr;

  constructor(live = false) {
    this.stdout = {
      live,
      columns: () => undefined,
      write: async (text: string) => {
        if (this.stdoutError !== undefined) throw this.stdoutError;
        this.out += text;
      },
    };
    this.stderr = {
      live,
      columns: () => 100,
      write: async (text: string) => {
        this.err += text;
      },
    };
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  now(): number {
    return this.clock;
  }

  readonly exists = (path: string): boolean => this.existing.has(path);

  async writeFile(path: string, text: string): Promise<void> {
    if (this.fileError !== undefined) throw this.fileError;
    this.files.set(path, text);
  }
}

type Call =
  | { command: 'checkout'; request: CheckoutRequest }
  | { command: 'clone'; request: CloneRequest }
  | { command: 'plan'; request: PlanRequest };

/** Answers every command as `answer` says, which may throw. */
export class FakeEngine implements EngineDoor {
  readonly calls: Call[] = [];
  readonly #answer: (ports: EnginePorts) => Report;
  ports: EnginePorts | undefined;

  constructor(answer: (ports: EnginePorts) => Report) {
    this.#answer = answer;
  }

  async checkout(request: CheckoutRequest, ports: EnginePorts): Promise<Report> {
    this.calls.push({ command: 'checkout', request });
    return this.#run(ports);
  }

  async clone(request: CloneRequest, ports: EnginePorts): Promise<Report> {
    this.calls.push({ command: 'clone', request });
    return this.#run(ports);
  }

  async plan(request: PlanRequest, ports: EnginePorts): Promise<Plan> {
    this.calls.push({ command: 'plan', request });
    return this.#run(ports).plan;
  }

  readonly spawnGit: GitProcess = async () => {
    throw new Error('the command line program itself runs no git');
  };

  #run(ports: EnginePorts): Report {
    this.ports = ports;
    return this.#answer(ports);
  }
}
