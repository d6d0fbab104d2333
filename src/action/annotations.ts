/**
 * Shows the report as annotations of the job: the outcome, what was handed to git, and what each worker did.
 */
import { notice, warning } from '@actions/core';
import type { Report } from '../engine/report/report.ts';
import { reportToAnnotations } from '../engine/report/annotations.ts';

/** Prints them. The error of a failed run is left out: main.ts fails the step with it. */
export function publishAnnotations(report: Report): void {
  for (const { level, title, message } of reportToAnnotations(report)) {
    if (level === 'notice') notice(message, { title });
    else if (level === 'warning') warning(message, { title });
  }
}
