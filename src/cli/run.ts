/**
 * One run of the command line program: reads the arguments, calls the engine, writes the outcome, and says the exit status.
 * Everything that it touches is an argument.
 */
import { CheckoutError, ioError, type ErrorJson } from '../engine/errors.ts';
import { errorToJson, planToJson, reportToJson } from '../engine/report/json.ts';
import { REPORT_SCHEMA_VERSION, type Report } from '../engine/report/report.ts';
import { planToText, reportToText } from '../engine/report/text.ts';
import type { EnginePorts } from '../engine/settings.ts';
import { parseCommandLine, type Invocation, type Output } from './arguments.ts';
import { helpText } from './help.ts';
import type { CliIo, EngineDoor } from './io.ts';
import { Terminal } from './terminal.ts';
import { VERSION } from './version.ts';

export const EXIT_DONE = 0;
export const EXIT_FAILED = 1;
export const EXIT_USAGE = 2;

/** What a run leaves: the exit status counts, the rest is for whoever prints it. */
interface Outcome {
  readonly json: string;
  /** Empty where a person would learn nothing from it. */
  readonly text: string;
  readonly error?: ErrorJson;
}

/** Runs `argv` (without the program's name) and resolves to the exit status; never rejects. */
export async function run(argv: readonly string[], io: CliIo, engine: EngineDoor): Promise<number> {
  let terminal = new Terminal(io, false);
  try {
    const invocation = parseCommandLine(argv, io);
    if (invocation.kind === 'help') return await print(io, helpText(invocation.command));
    if (invocation.kind === 'version') return await print(io, `${VERSION}\n`);
    terminal = new Terminal(io, invocation.quiet);
    return await runCommand(invocation, io, terminal, engine);
  } catch (error) {
    const failure = failureOf(error, io);
    if (failure === null) {
      terminal.bug(error instanceof Error ? (error.stack ?? error.message) : String(error));
      return EXIT_FAILED;
    }
    terminal.error(failure.message);
    if (failure.code === 'usage') terminal.info("Try 'parallel-checkout --help'.");
    return exitStatus(failure);
  } finally {
    await terminal.settle();
  }
}

type CommandInvocation = Extract<Invocation, Output>;

async function runCommand(
  invocation: CommandInvocation,
  io: CliIo,
  terminal: Terminal,
  engine: EngineDoor,
): Promise<number> {
  const ports: EnginePorts = { observer: terminal, git: engine.spawnGit };
  const outcome = await callEngine(invocation, io, engine, ports);
  await terminal.settle();
  if (outcome.error !== undefined) terminal.error(outcome.error.message);
  // What failed was told first, and still both places get the report if only one of them can be written.
  const writes = await Promise.allSettled([
    writeReport(invocation, io, outcome.json),
    invocation.json ? print(io, outcome.json) : invocation.quiet ? EXIT_DONE : print(io, outcome.text),
  ]);
  for (const write of writes) if (write.status === 'rejected') throw write.reason;
  return outcome.error === undefined ? EXIT_DONE : exitStatus(outcome.error);
}

async function callEngine(
  invocation: CommandInvocation,
  io: CliIo,
  engine: EngineDoor,
  ports: EnginePorts,
): Promise<Outcome> {
  const { signal } = io;
  try {
    switch (invocation.kind) {
      case 'clone':
        return reportOutcome(await engine.clone({ ...invocation.request, signal }, ports));
      case 'checkout':
        return reportOutcome(await engine.checkout({ ...invocation.request, signal }, ports));
      case 'plan': {
        const plan = await engine.plan({ ...invocation.request, signal }, ports);
        return { json: planToJson(plan), text: planToText(plan) };
      }
    }
  } catch (error) {
    // A failure before there is a report still gives one JSON value to whoever asked for one.
    const failure = failureOf(error, io);
    if (failure === null) throw error;
    return { json: errorToJson({ schemaVersion: REPORT_SCHEMA_VERSION, error: failure }), text: '', error: failure };
  }
}

function reportOutcome(report: Report): Outcome {
  const json = reportToJson(report);
  if (report.error === undefined) return { json, text: reportToText(report) };
  // A table of zeros after the error's line would bury it; what was done or left undone before it is worth telling.
  const worthShowing = report.totals.files > 0 || report.skipped.length > 0;
  return { json, text: worthShowing ? reportToText(report) : '', error: report.error };
}

/** The failure that an error stands for, null for a bug. */
function failureOf(error: unknown, io: CliIo): ErrorJson | null {
  if (error instanceof CheckoutError) return error.toJSON();
  const { signal } = io;
  if (signal.aborted && (error === signal.reason || (error instanceof Error && error.name === 'AbortError'))) {
    return { code: 'interrupted', message: 'interrupted', subject: {} };
  }
  return null;
}

function exitStatus(error: ErrorJson): number {
  return error.subject.exitStatus ?? (error.code === 'usage' ? EXIT_USAGE : EXIT_FAILED);
}

async function writeReport(output: Output, io: CliIo, json: string): Promise<void> {
  if (output.reportFile === undefined) return;
  try {
    await io.writeFile(output.reportFile, json);
  } catch (error) {
    throw ioError('write the report', output.reportFile, error);
  }
}

async function print(io: CliIo, text: string): Promise<number> {
  try {
    if (text !== '') await io.stdout.write(text);
  } catch (error) {
    throw ioError('write', 'standard output', error);
  }
  return EXIT_DONE;
}
