/**
 * What the commands need of the world, so that tests can run them in-process: streams, a folder, a clock, a file to
 * write, a signal; and of the engine, its front door.
 */
import type { Plan, Report } from '../engine/report/report.ts';
import type { CheckoutRequest, CloneRequest, EnginePorts, GitProcess, PlanRequest } from '../engine/settings.ts';

export interface CliIo {
  /** Absolute; relative paths of the command line start here. */
  readonly cwd: string;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** Aborted when the user wants to stop. */
  readonly signal: AbortSignal;
  /** Milliseconds that only go up. */
  now(): number;
  readonly exists: (path: string) => boolean;
  writeFile(path: string, text: string): Promise<void>;
}

export interface OutputStream {
  /** True when it is a terminal on which a line can be rewritten. */
  readonly live: boolean;
  /** The terminal's width as it is now. */
  columns(): number | undefined;
  /** Resolves when the text is handed over, also when the reader has gone; rejects with what the system said. */
  write(text: string): Promise<void>;
}

/** The engine's front door as far as the command line program uses it. */
export interface EngineDoor {
  checkout(request: CheckoutRequest, ports: EnginePorts): Promise<Report>;
  clone(request: CloneRequest, ports: EnginePorts): Promise<Report>;
  plan(request: PlanRequest, ports: EnginePorts): Promise<Plan>;
  readonly spawnGit: GitProcess;
}
