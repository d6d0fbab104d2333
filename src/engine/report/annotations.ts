/**
 * The report as job annotations. GitHub shows ten of a kind for a step and silently drops the rest, and a runner cuts a
 * message at 4,096 characters; so the values are few, and several workers share one where there are more than fit.
 */
import type { WorkerCost } from '../cost.ts';
import { formatCount, printable, workerName } from './format.ts';
import type { Report } from './report.ts';
import { workSentence } from './text.ts';
import { costSentence, groupCost, groupName, groupWorkers, workerSentence } from './worker-groups.ts';

export interface Annotation {
  readonly level: 'notice' | 'warning' | 'error';
  readonly title: string;
  /** May have several lines. */
  readonly message: string;
}

/** Annotations that GitHub shows of one level and step. All levels together stay below it, to be sure. */
export const ANNOTATION_LIMIT = 10;

/** `_maxIssueMessageLength` of the runner (actions/runner, ExecutionContext), less some room. */
const MESSAGE_CHARACTERS = 4000;

/** Entries that one warning names before it counts the rest. */
const NAMED_ENTRIES = 10;

/**
 * At most `limit` values, the most important first: the error of a failed run, the outcome, warnings about what was not
 * done natively or not at all, and then the workers. A caller who fails the step with the error's message itself leaves
 * out the value of level 'error'.
 */
export function reportToAnnotations(report: Report, limit = ANNOTATION_LIMIT): Annotation[] {
  const annotations: Annotation[] = [];
  if (report.error !== undefined) {
    annotations.push({
      level: 'error',
      title: `parallel-checkout failed (${printable(report.error.code, 100)})`,
      message: printable(report.error.message, MESSAGE_CHARACTERS),
    });
  }
  annotations.push(outcome(report), ...warnings(report));
  // A lone main thread is in the outcome already.
  if (report.workers.some((worker) => worker.id !== 0)) {
    const room = Math.max(0, limit - annotations.length);
    for (const group of groupWorkers(report.workers, room)) annotations.push(workerNotice(group));
  }
  return annotations.slice(0, limit);
}

function outcome(report: Report): Annotation {
  const decided = report.plan.reasons.filter((reason) => reason.decided);
  const lines = [
    `${report.error === undefined ? 'Checked out' : 'Until it failed:'} ${workSentence(report)}`,
    ...decided.map(({ about, text }) => `${about}: ${printable(text, 300)}`),
  ];
  return { level: 'notice', title: 'parallel-checkout', message: lines.join('\n').slice(0, MESSAGE_CHARACTERS) };
}

function warnings(report: Report): Annotation[] {
  const found: Annotation[] = [];
  const { fallbacks, skipped } = report;
  if (fallbacks.length > 0) {
    found.push({
      level: 'warning',
      title: 'parallel-checkout: handed to git',
      message: some(fallbacks.map(({ stage, reason }) => `${stage}: ${printable(reason, 300)}`)),
    });
  }
  if (skipped.length > 0) {
    found.push({
      level: 'warning',
      title: `parallel-checkout: not written: ${formatCount(skipped.length)}`,
      message: some(skipped.map(({ path, reason }) => `${printable(path, 200)}: ${printable(reason, 150)}`)),
    });
  }
  const dead = report.workers.filter((worker) => worker.died === true);
  if (dead.length > 0) {
    found.push({
      level: 'warning',
      title: 'parallel-checkout: workers that ended early',
      message: some(dead.map((worker) => `${workerName(worker)}: others took its entries over`)),
    });
  }
  return found;
}

function workerNotice(group: readonly WorkerCost[]): Annotation {
  const title = groupName(group);
  const [only] = group;
  if (group.length === 1 && only !== undefined) return { level: 'notice', title, message: costSentence(only) };
  const each = group.map(workerSentence).join('\n');
  const together = `together: ${costSentence(groupCost(group))} (time and memory: the highest of one)`;
  return { level: 'notice', title, message: each.length <= MESSAGE_CHARACTERS ? each : together };
}

function some(lines: readonly string[]): string {
  const rest = lines.length - NAMED_ENTRIES;
  const shown = lines.slice(0, NAMED_ENTRIES);
  if (rest > 0) shown.push(`… and ${formatCount(rest)} more`);
  return shown.join('\n').slice(0, MESSAGE_CHARACTERS);
}
