/**
 * Adds the report to the summary of the job.
 */
import { summary } from '@actions/core';
import type { Report } from '../engine/report/report.ts';
import { reportToMarkdown } from '../engine/report/markdown.ts';

/** Appends it to the summary file of the step. Rejects where the runner's file cannot be written. */
export async function publishSummary(report: Report): Promise<void> {
  await summary.addRaw(reportToMarkdown(report), true).write();
}
