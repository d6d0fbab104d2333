/**
 * The outputs of the step, and the file that one of them names.
 */
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setOutput } from '@actions/core';
import { ioError, type CheckoutError } from '../engine/errors.ts';
import { errorToJson, reportToJson } from '../engine/report/json.ts';
import { reportToOutputs } from '../engine/report/outputs.ts';
import { REPORT_SCHEMA_VERSION, type Report } from '../engine/report/report.ts';

function writeReport(runnerTemp: string, json: string): void {
  const path = join(runnerTemp, `parallel-checkout-report-${randomUUID()}.json`);
  try {
    writeFileSync(path, json);
  } catch (error) {
    throw ioError('write', path, error);
  }
  setOutput('report', path);
}

/**
 * Sets what the report tells. `commit` and `ref` are set only where the checkout succeeded, as with actions/checkout.
 * Throws `io` if the report cannot be written to RUNNER_TEMP.
 */
export function publishOutputs(report: Report, ref: string, runnerTemp: string): void {
  if (report.error === undefined) {
    setOutput('commit', report.commit ?? '');
    setOutput('ref', ref);
  }
  for (const [name, value] of Object.entries(reportToOutputs(report))) setOutput(name, value);
  writeReport(runnerTemp, reportToJson(report));
}

/** The `report` output of a run that failed before there was anything to check out. */
export function publishError(error: CheckoutError, runnerTemp: string): void {
  writeReport(runnerTemp, errorToJson({ schemaVersion: REPORT_SCHEMA_VERSION, error: error.toJSON() }));
}
