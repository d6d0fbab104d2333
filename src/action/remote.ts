/**
 * Asks the remote, through git, what the `ref` input leaves open: its default branch, and whether a short name is a branch
 * or a tag there. actions/checkout asks the REST interface for the first, which not every server has.
 */
import { redactor, runOnline } from '../engine/engine.ts';
import { CheckoutError } from '../engine/errors.ts';
import type { EnginePorts, FetchLimits, GitProcess } from '../engine/settings.ts';
import { gitText } from './git.ts';
import { refForm, type RefForm, type RemoteName } from './ref.ts';

/** Lines of `ls-remote`: `<oid>\t<ref>` and, with --symref, `ref: <target>\t<ref>`. */
function remoteRefs(text: string): ReadonlyMap<string, string> {
  const refs = new Map<string, string>();
  for (const line of text.split('\n')) {
    const tab = line.indexOf('\t');
    // A symbolic ref's target comes before its object id; the first is kept.
    if (tab > 0 && !refs.has(line.slice(tab + 1))) refs.set(line.slice(tab + 1), line.slice(0, tab));
  }
  return refs;
}

/** How the server is asked. */
export interface RemoteFacts {
  readonly ports: EnginePorts;
  /** Environment of git processes that talk to the server. */
  readonly env: Readonly<Record<string, string>>;
  readonly limits: FetchLimits;
  readonly signal: AbortSignal;
}

/** What the server answers to `ls-remote`. Throws as a fetch does. */
async function askRemote(facts: RemoteFacts, what: string, args: readonly string[]): Promise<string> {
  const { ports, env, limits, signal } = facts;
  const { stdout } = await runOnline(
    {
      what: `asking the server for ${what}`,
      args: ['ls-remote', '--quiet', ...args],
      env,
      limits,
      signal,
      onStderrLine: (line) => ports.observer.info(redactor(env)(line)),
    },
    ports,
  );
  return stdout.toString('utf8');
}

/** What the remote's HEAD names: its default branch, or the commit where it is on none. */
export async function lookUpDefaultBranch(facts: RemoteFacts): Promise<RefForm> {
  const text = await askRemote(facts, 'the default branch', ['--symref', 'origin', 'HEAD']);
  const head = remoteRefs(text).get('HEAD');
  if (head === undefined) {
    throw new CheckoutError(
      'unknown-revision',
      'the repository has no default branch: it is empty, or its HEAD is broken',
    );
  }
  return head.startsWith('ref: ') ? refForm(head.slice('ref: '.length), '') : refForm('', head);
}

/** Whether the remote has a branch and a tag of exactly this name. */
export async function lookUpRemoteName(facts: RemoteFacts, name: string): Promise<RemoteName> {
  const branch = `refs/heads/${name}`;
  const tag = `refs/tags/${name}`;
  // git matches the ends of names too, so what it lists need not be what was asked for.
  const refs = remoteRefs(await askRemote(facts, `'${name}'`, ['origin', branch, tag]));
  return { branch: refs.has(branch), tag: refs.has(tag) };
}

/** The same, after all branches and tags were fetched. */
export async function lookUpFetchedName(git: GitProcess, name: string): Promise<RemoteName> {
  const branch = `refs/remotes/origin/${name}`;
  const tag = `refs/tags/${name}`;
  const args = ['for-each-ref', '--format=%(refname)', branch, tag];
  const refs = (await gitText(git, { args }, `cannot look up '${name}'`)).split('\n');
  return { branch: refs.includes(branch), tag: refs.includes(tag) };
}
