// The guard against checking out a fork's code with the base repository's secrets, rule by rule.
import { describe, expect, it } from 'vitest';
import {
  refuseUnsafePullRequestCheckout,
  unsafePullRequestCheckout,
  type GuardFacts,
} from '../../src/action/fork-guard.ts';

const HEAD = 'a'.repeat(40);
const MERGE = 'b'.repeat(40);
const OTHER = 'c'.repeat(40);

const pullRequestTarget = {
  repository: { id: 1, full_name: 'owner/big' },
  pull_request: { merge_commit_sha: MERGE, head: { sha: HEAD, repo: { id: 2, full_name: 'mallory/big' } } },
};
const workflowRun = (event: string): unknown => ({
  repository: { id: 1, full_name: 'owner/big' },
  workflow_run: {
    event,
    head_sha: HEAD,
    head_commit: { id: MERGE },
    head_repository: { id: 2, full_name: 'mallory/big' },
  },
});

const facts: GuardFacts = {
  eventName: 'pull_request_target',
  event: pullRequestTarget,
  repository: 'owner/big',
  isWorkflowRepository: true,
  ref: '',
  commit: '',
  refIsDefault: false,
  allowUnsafePrCheckout: false,
};

const ownRun = {
  repository: { id: 1, full_name: 'owner/big' },
  workflow_run: {
    event: 'pull_request',
    head_sha: HEAD,
    head_commit: { id: MERGE },
    head_repository: { id: 1, full_name: 'owner/big' },
  },
};

const refused: readonly (readonly [string, Partial<GuardFacts>])[] = [
  ['the merge ref', { ref: 'refs/pull/5/merge' }],
  ['the head ref', { ref: 'refs/pull/5/head' }],
  ['the merge ref in capitals, which is fetched as the one in small letters', { ref: 'refs/PULL/5/merge' }],
  ['the merge ref, whatever repository it is asked of', { ref: 'refs/pull/5/merge', repository: 'owner/tools' }],
  ['the head commit', { commit: HEAD }],
  ['the head commit in capitals', { commit: HEAD.toUpperCase() }],
  ['the merge commit', { commit: MERGE }],
  ['the fork', { repository: 'mallory/big', isWorkflowRepository: false }],
  [
    'the fork in capitals, at its default branch',
    { repository: 'Mallory/BIG', isWorkflowRepository: false, refIsDefault: true },
  ],
  [
    'a pull request of a run',
    { eventName: 'workflow_run', event: workflowRun('pull_request'), ref: 'refs/pull/5/merge' },
  ],
  ['the head of a run', { eventName: 'workflow_run', event: workflowRun('pull_request'), commit: HEAD }],
  ['the commit of a run', { eventName: 'workflow_run', event: workflowRun('pull_request'), commit: MERGE }],
  ['the head ref of a run', { eventName: 'workflow_run', event: workflowRun('pull_request'), ref: 'refs/pull/5/head' }],
  ['the head commit of a run', { eventName: 'workflow_run', event: workflowRun('pull_request_target'), commit: MERGE }],
  [
    'the fork of a run',
    { eventName: 'workflow_run', event: workflowRun('pull_request_review'), repository: 'mallory/big' },
  ],
];

const allowed: readonly (readonly [string, Partial<GuardFacts>])[] = [
  ['the default of the workflow repository', { refIsDefault: true }],
  ['a branch', { ref: 'refs/heads/main' }],
  ['a short name', { ref: 'main' }],
  ['a short name like a pull request', { ref: 'pull/5/head' }],
  ['a longer pull ref', { ref: 'refs/pull/5/merge/x' }],
  ['another commit', { commit: OTHER }],
  ['no commit', { commit: '' }],
  ['a third repository', { repository: 'owner/tools', isWorkflowRepository: false, refIsDefault: true }],
  ['consent', { ref: 'refs/pull/5/merge', allowUnsafePrCheckout: true }],
  [
    'consent, for the commit and the fork too',
    { commit: HEAD, repository: 'mallory/big', allowUnsafePrCheckout: true },
  ],
  ['an older commit of the pull request, which the event does not know', { commit: 'd'.repeat(40) }],
  ['a push', { eventName: 'push', commit: HEAD }],
  [
    'a run after an event without a name',
    { eventName: 'workflow_run', event: { ...ownRun, workflow_run: {} }, commit: HEAD },
  ],
  ['a pull request of the repository itself, of a run', { eventName: 'workflow_run', event: ownRun, commit: HEAD }],
  ['its merge ref', { eventName: 'workflow_run', event: ownRun, ref: 'refs/pull/5/merge' }],
  ['a repository whose id is no number', { event: { ...pullRequestTarget, repository: { id: '1' } }, commit: HEAD }],
  ['another event', { eventName: 'pull_request', ref: 'refs/pull/5/merge' }],
  ['a run after a push', { eventName: 'workflow_run', event: workflowRun('push'), commit: HEAD }],
  [
    'the base commit of a run after pull_request_target',
    { eventName: 'workflow_run', event: workflowRun('pull_request_target'), commit: HEAD },
  ],
  [
    'an event without a repository',
    { event: { pull_request: pullRequestTarget.pull_request }, ref: 'refs/pull/5/merge' },
  ],
  [
    'a pull request of the repository itself',
    {
      event: { repository: { id: 1 }, pull_request: { head: { sha: HEAD, repo: { id: 1, full_name: 'owner/big' } } } },
      commit: HEAD,
    },
  ],
  [
    'a fork that is gone',
    { event: { repository: { id: 1 }, pull_request: { head: { sha: HEAD, repo: null } } }, commit: HEAD },
  ],
  ['an event that is no object', { event: null, ref: 'refs/pull/5/merge' }],
];

describe('the fork guard', () => {
  it.each(refused)('refuses %s', (_, change) => {
    expect(unsafePullRequestCheckout({ ...facts, ...change })).toBeTypeOf('string');
    expect(() => refuseUnsafePullRequestCheckout({ ...facts, ...change })).toThrow(
      /refusing.*(pull_request_target|workflow_run).*secrets.*gh\.io\/securely-using-pull_request_target.*allow-unsafe-pr-checkout: true/,
    );
  });

  it.each(allowed)('allows %s', (_, change) => {
    expect(unsafePullRequestCheckout({ ...facts, ...change })).toBeNull();
  });
});
