/**
 * What the main phase leaves for the post phase, through the runner. Saved before the thing itself is made, so that a
 * step that is killed half-way is cleaned up after all.
 */
import { getState, saveState } from '@actions/core';

/** State of one step; a name with no value was not saved. */
export interface StepState {
  readonly repositoryPath?: string;
  readonly credentialsPath?: string;
  readonly sshKeyPath?: string;
  readonly sshKnownHostsPath?: string;
  /** The server that the token is for. */
  readonly serverOrigin?: string;
  /** HOME of the git processes, with the safe directory in it. */
  readonly temporaryHome?: string;
}

const NAMES = [
  'repositoryPath',
  'credentialsPath',
  'sshKeyPath',
  'sshKnownHostsPath',
  'serverOrigin',
  'temporaryHome',
] as const;

/** Adds to the state. */
export function saveStepState(state: StepState): void {
  for (const name of NAMES) if (state[name] !== undefined) saveState(name, state[name]);
}

/** What the main phase of this step saved. */
export function readStepState(): StepState {
  const state: Partial<Record<keyof StepState, string>> = {};
  for (const name of NAMES) {
    const value = getState(name);
    if (value !== '') state[name] = value;
  }
  return state;
}
