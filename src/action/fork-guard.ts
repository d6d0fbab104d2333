/**
 * Refuses to check out a fork's pull request in a privileged workflow. `pull_request_target` and `workflow_run` run with
 * the base repository's secrets and a token that may write; a job that checks out the fork's code there and then builds
 * or tests it hands both to whoever opened the pull request ("pwn request").
 *
 * The rules are those of actions/checkout 7.0.1, which differ from 7.0.0 in exempting the default checkout. Only what the
 * event's payload names can be recognised: an older commit of the same pull request, given by its id, is not.
 */
import { CheckoutError } from '../engine/errors.ts';
import { member } from './event.ts';

/** What the guard looks at; nothing else decides. */
export interface GuardFacts {
  /** GITHUB_EVENT_NAME. */
  readonly eventName: string;
  /** The parsed event file; anything, since it comes from outside. */
  readonly event: unknown;
  /** `owner/name` to check out. */
  readonly repository: string;
  /** True where that is the repository that the workflow runs for. */
  readonly isWorkflowRepository: boolean;
  /** The `ref` input after reading: empty if none or a commit was given. */
  readonly ref: string;
  /** The commit that the `ref` input named, else empty. */
  readonly commit: string;
  /** True where the `ref` input was left empty. */
  readonly refIsDefault: boolean;
  readonly allowUnsafePrCheckout: boolean;
}

// In any case, since ref.ts takes `refs/PULL/…` for a pull request too and asks the server for `refs/pull/…`. actions/checkout asks
// for the ref as it is spelled, which no server has, and can compare exactly.
const PULL_REF = /^refs\/pull\/[0-9]+\/(?:head|merge)$/i;

interface Head {
  readonly repositoryId: unknown;
  readonly repositoryName: unknown;
  readonly commits: readonly unknown[];
}

/** The pull request's side of the event, or null for events that the guard does not concern. */
function headOf(eventName: string, event: unknown): Head | null {
  if (eventName === 'pull_request_target') {
    const pull = member(event, 'pull_request');
    return {
      repositoryId: member(pull, 'head', 'repo', 'id'),
      repositoryName: member(pull, 'head', 'repo', 'full_name'),
      commits: [member(pull, 'head', 'sha'), member(pull, 'merge_commit_sha')],
    };
  }
  if (eventName === 'workflow_run') {
    const run = member(event, 'workflow_run');
    const cause = member(run, 'event');
    if (typeof cause !== 'string' || !cause.startsWith('pull_request')) return null;
    const commits = [member(run, 'head_commit', 'id')];
    // Under pull_request_target head_sha is the base branch's commit, which is safe.
    if (cause !== 'pull_request_target') commits.push(member(run, 'head_sha'));
    return {
      repositoryId: member(run, 'head_repository', 'id'),
      repositoryName: member(run, 'head_repository', 'full_name'),
      commits,
    };
  }
  return null;
}

/** What makes this checkout unsafe, in a few words, or null if nothing does. */
export function unsafePullRequestCheckout(facts: GuardFacts): string | null {
  if (facts.isWorkflowRepository && facts.refIsDefault) return null;
  if (facts.allowUnsafePrCheckout) return null;
  const head = headOf(facts.eventName, facts.event);
  if (head === null) return null;
  const baseId = member(facts.event, 'repository', 'id');
  if (typeof baseId !== 'number') return null;
  if (typeof head.repositoryId !== 'number' || head.repositoryId === baseId) return null;

  const { repositoryName } = head;
  if (typeof repositoryName === 'string' && repositoryName.toLowerCase() === facts.repository.toLowerCase()) {
    return `repository '${facts.repository}' is the fork that the pull request comes from`;
  }
  if (PULL_REF.test(facts.ref)) return `ref '${facts.ref}' is a pull request of a fork`;
  const commit = facts.commit.toLowerCase();
  const known = head.commits.filter((sha) => typeof sha === 'string').map((sha) => sha.toLowerCase());
  if (commit !== '' && known.includes(commit)) return `commit ${facts.commit} belongs to a pull request of a fork`;
  return null;
}

/** Throws the `usage` error that stops the step, before anything is touched. */
export function refuseUnsafePullRequestCheckout(facts: GuardFacts): void {
  const reason = unsafePullRequestCheckout(facts);
  if (reason === null) return;
  throw new CheckoutError(
    'usage',
    `refusing to check out code of a fork in a '${facts.eventName}' workflow: ${reason}. Such a workflow has the base ` +
      `repository's token, secrets and caches, and code of a fork that runs in it can take them. ` +
      `See https://gh.io/securely-using-pull_request_target; if this job never runs what it checks out, ` +
      `set 'allow-unsafe-pr-checkout: true'`,
    { option: 'allow-unsafe-pr-checkout' },
  );
}
