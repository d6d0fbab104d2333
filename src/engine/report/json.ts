/**
 * The report and the plan as JSON text. The schema is the type itself, documented in docs/report.md.
 */
import type { Plan } from '../plan/plan.ts';
import type { Report } from './report.ts';

/** The report as JSON, indented, with a line break at its end. Parsing it gives the same value. */
export function reportToJson(report: Report): string {
  return toJson(report);
}

/** The plan as JSON, in the same form. */
export function planToJson(plan: Plan): string {
  return toJson(plan);
}

/** What stands for the report where a run failed before there was one: its schema version and the error alone. */
export function errorToJson(error: Pick<Report, 'schemaVersion'> & Required<Pick<Report, 'error'>>): string {
  return toJson(error);
}

function toJson(value: object): string {
  // JSON escapes C0 control characters; the rest of what could drive a terminal is escaped here, at no change of value.
  const text = JSON.stringify(value, null, 2).replace(/[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, (c) => {
    return `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
  return `${text}\n`;
}
