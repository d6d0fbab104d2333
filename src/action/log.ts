/**
 * The job log. The runner acts on lines that look like its commands, wherever they come from, and what git prints is in
 * part written by others (server messages, branch and file names); so a foreign line is made harmless before it is
 * printed.
 */
import { endGroup, info, startGroup, warning } from '@actions/core';
import { ProgressMeter } from '../engine/report/progress.ts';
import type { Observer, Progress } from '../engine/settings.ts';

/**
 * One line that the runner prints and does not act on. `::name` counts at the start of a line and `##[name]` anywhere
 * (actions/runner, ActionCommand.cs).
 */
export function harmlessLine(line: string): string {
  // eslint-disable-next-line no-control-regex -- control characters are what is replaced
  const visible = line.replace(/[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u2028\u2029]/g, ' ').replaceAll('##[', '# #[');
  return /^\s*::/.test(visible) ? `> ${visible.trimStart()}` : visible;
}

/** Prints one line. */
export function logLine(line: string): void {
  info(harmlessLine(line));
}

/** Runs `work` inside a foldable group of the log. */
export async function logGroup<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  startGroup(harmlessLine(name));
  try {
    return await work();
  } finally {
    endGroup();
  }
}

/** What the engine tells, in the log; progress only if it is wanted. */
export function logObserver(showProgress: boolean): Observer {
  const meter = new ProgressMeter({ live: false }, performance.now());
  return {
    info: logLine,
    warning: (line) => warning(line),
    progress(progress: Progress) {
      if (!showProgress) return;
      const line = meter.update(progress, performance.now());
      if (line !== '') logLine(line);
    },
  };
}
