/**
 * After the job: takes the credentials away again. Works from the saved paths and on files alone, so it needs no git, is
 * over at once, and never fails a job.
 */
import { join } from 'node:path';
import { info, warning } from '@actions/core';
import { removeCredentials } from './credentials.ts';
import { harmlessLine } from './log.ts';
import { removeTemporaryHome } from './safe-directory.ts';
import { readStepState } from './state.ts';

function cleanUp(environment: NodeJS.ProcessEnv): void {
  const { repositoryPath, credentialsPath, sshKeyPath, sshKnownHostsPath, serverOrigin, temporaryHome } =
    readStepState();
  // The main phase ended before it touched anything.
  if (repositoryPath === undefined) return;
  const failures = removeCredentials({
    gitDir: join(repositoryPath, '.git'),
    runnerTemp: environment['RUNNER_TEMP'] ?? '',
    origins: [serverOrigin ?? '', environment['GITHUB_SERVER_URL'] ?? ''],
    ...(credentialsPath === undefined ? {} : { credentialsPath }),
    sshFiles: [sshKeyPath, sshKnownHostsPath].filter((path) => path !== undefined),
  });
  for (const failure of failures) warning(harmlessLine(`Credentials may be left: ${failure.message}`));
  // Left only if the main phase was killed.
  if (temporaryHome !== undefined) removeTemporaryHome(temporaryHome);
  if (failures.length === 0) info('Credentials are removed.');
}

try {
  cleanUp(process.env);
} catch (error) {
  warning(harmlessLine(error instanceof Error ? error.message : String(error)));
}
