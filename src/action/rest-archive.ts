/**
 * The checkout where no git is on the runner: the commit's files as an archive from the server's REST interface. There is
 * no repository then, which is why this comes last: an engine that can make a repository without git goes before it, in
 * `runWithoutGit` of main.ts, and this takes what it cannot do.
 */
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { setOutput, warning } from '@actions/core';
import { CheckoutError } from '../engine/errors.ts';
import type { Observer } from '../engine/settings.ts';
import { ArchiveWriter, type ArchiveContent } from './archive-writer.ts';
import { removeCredentials } from './credentials.ts';
import type { ActionSettings } from './inputs.ts';
import { harmlessLine, logGroup, logLine, logObserver } from './log.ts';
import { emptyDirectory, makeDirectory } from './prepare-directory.ts';
import { restDefaultBranch, restGet, type RestApi } from './rest-api.ts';

/** Why the settings cannot do without git, as the error to end with; null if they can. Pure. */
export function whyGitIsNeeded(settings: ActionSettings): CheckoutError | null {
  const asked: readonly (readonly [option: string, asked: boolean, why: string])[] = [
    ['ssh-key', settings.ssh !== null, 'an archive cannot be fetched with an SSH key'],
    ['submodules', settings.submodules !== null, 'an archive has none'],
    ['lfs', settings.lfs !== null, 'an archive has pointer files only'],
    ['engine', settings.engine !== 'auto', `'${settings.engine}' needs a repository`],
    ['transport', settings.transport !== 'auto', `'${settings.transport}' needs a repository`],
    ['verify', settings.verify, 'the files of an archive cannot be verified'],
  ];
  const needs = asked.find(([, isAsked]) => isAsked);
  if (needs === undefined) return null;
  const [option, , why] = needs;
  return new CheckoutError('git-missing', `git is not in PATH, and input '${option}' needs it: ${why}`, { option });
}

/** What of the settings an archive has no place for, by the names of the inputs. Pure. */
export function inputsWithoutEffect(settings: ActionSettings): readonly string[] {
  const given: readonly (readonly [name: string, given: boolean])[] = [
    ['sparse-checkout', settings.sparse.kind !== 'off'],
    // Implied by sparse-checkout, so that it may be there without having been asked for.
    ['filter', settings.filter !== null && settings.sparse.kind === 'off'],
    ['fetch-depth', settings.fetchDepth !== 1 || settings.mergeBase !== null],
    ['fetch-tags', settings.fetchTags],
    ['clean-exclude', settings.cleanExclude.length > 0],
  ];
  return given.filter(([, isGiven]) => isGiven).map(([name]) => name);
}

/** What is missing, for a warning. */
function missing(settings: ActionSettings): string {
  const ignored = inputsWithoutEffect(settings);
  const inputs = ignored.length === 0 ? '' : `; without effect: ${ignored.join(', ')}`;
  return (
    'git is not in PATH: the files come as an archive from the REST API. There is no repository (.git) and no token for ' +
    `later steps, submodules are empty directories, and Git LFS files are pointers${inputs}`
  );
}

/** A stream that ends in the writer. Tells the observer how far it is. */
export function archiveSink(writer: ArchiveWriter, observer: Pick<Observer, 'progress'>): Writable {
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      try {
        writer.write(chunk);
        // How many there will be is not known: servers send archives as they make them.
        observer.progress({ phase: 'write', filesDone: writer.files, filesTotal: 0, bytesDone: writer.bytes });
        done();
      } catch (error) {
        done(error as Error);
      }
    },
  });
}

/** Where the archive of the commit or ref is; of the default branch if `revision` is empty. */
async function fetchArchive(api: RestApi, settings: ActionSettings, revision: string): Promise<ArchiveContent> {
  const { owner, name, repositoryPath } = settings;
  const path = `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(name)}/tarball/${encodeURIComponent(revision)}`;
  const what = `the server has no archive of '${revision}' of '${owner}/${name}', or the token cannot read it`;
  const notFound = new CheckoutError('unknown-revision', harmlessLine(what), { option: 'ref' });
  return restGet(api, path, notFound, async (response) => {
    // An attempt before this one may have written something.
    emptyDirectory(repositoryPath);
    const writer = new ArchiveWriter(repositoryPath);
    const observer = logObserver(settings.showProgress);
    try {
      await pipeline(response, createGunzip(), archiveSink(writer, observer), { signal: api.signal });
      return writer.end();
    } finally {
      writer.close();
    }
  });
}

/**
 * The whole step without git. Nothing is touched if the settings need git. When it fails later, the directory is empty.
 *
 * @throws CheckoutError git-missing, fetch-failed, authentication-failed, unknown-revision, path-invalid, io, interrupted
 */
export async function checkOutArchive(
  settings: ActionSettings,
  environment: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<void> {
  const started = performance.now();
  const needed = whyGitIsNeeded(settings);
  if (needed !== null) throw needed;
  if (!/^[\x21-\x7e]+$/.test(settings.token)) {
    throw new CheckoutError('usage', `input 'token' has characters that no token has`, { option: 'token' });
  }
  warning(harmlessLine(missing(settings)));

  const { repositoryPath, runnerTemp, serverOrigin } = settings;
  const origins = [serverOrigin, environment['GITHUB_SERVER_URL'] ?? ''];
  await logGroup('Preparing the directory', async () => {
    if (!makeDirectory(repositoryPath)) return;
    // An earlier checkout's token lies outside of the directory.
    for (const failure of removeCredentials({ gitDir: join(repositoryPath, '.git'), runnerTemp, origins })) {
      warning(harmlessLine(`Credentials may be left: ${failure.message}`));
    }
    logLine(
      `The contents of '${repositoryPath}' are removed, since an archive can only be written into an empty directory`,
    );
    emptyDirectory(repositoryPath);
    await Promise.resolve();
  });

  const content = await logGroup('Fetching the archive', async () => {
    const { apiUrl: baseUrl, token, fetchLimits: limits } = settings;
    const api: RestApi = { baseUrl, token, environment, signal, limits, log: logLine };
    const commit = settings.form !== null && 'commit' in settings.form ? settings.form.commit : '';
    const revision = commit || settings.ref || (await restDefaultBranch(api, settings.owner, settings.name));
    logLine(`The archive of '${revision}' from ${api.baseUrl}`);
    try {
      return await fetchArchive(api, settings, revision);
    } catch (error) {
      // Half of the files must not pass for a checkout.
      try {
        emptyDirectory(repositoryPath);
      } catch (left) {
        warning(harmlessLine(left instanceof Error ? left.message : String(left)));
      }
      throw error;
    }
  });
  const ms = performance.now() - started;
  logLine(`${content.files} files, ${content.bytes} bytes in ${Math.round(ms)} ms`);

  if (content.commit !== null) setOutput('commit', content.commit);
  setOutput('ref', settings.ref);
  setOutput('engine', 'archive');
  setOutput('workers', '0');
  setOutput('files', String(content.files));
  setOutput('bytes', String(content.bytes));
  setOutput('duration-ms', String(Math.round(ms)));
  setOutput('peak-memory-bytes', String(process.resourceUsage().maxRSS * 1024));
}
