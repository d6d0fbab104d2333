/**
 * Which engine writes the working tree. Pure: a list of things that were found out about the repository goes in, a
 * choice with its reasons comes out.
 */
import { CheckoutError } from '../errors.ts';
import type { EngineChoice } from '../settings.ts';
import type { PlanReason } from './plan.ts';

export interface EngineRoute {
  readonly engine: 'native' | 'git';
  readonly reasons: readonly PlanReason[];
}

/**
 * Chooses the engine.
 * @param choice what the user asked for
 * @param needsGit what the repository has that only git can check out, a phrase each
 * @throws CheckoutError unsupported when the user insists on our engine and the repository needs git
 */
export function routeEngine(choice: EngineChoice, needsGit: readonly string[]): EngineRoute {
  if (choice === 'git') {
    return { engine: 'git', reasons: [{ about: 'engine', text: 'git, as asked for', decided: true }] };
  }
  if (needsGit.length === 0) {
    const text = choice === 'native' ? 'our own engine, as asked for' : 'our own engine: nothing here needs git';
    return { engine: 'native', reasons: [{ about: 'engine', text, decided: true }] };
  }
  if (choice === 'native') {
    throw new CheckoutError('unsupported', `our own engine cannot check this out: ${needsGit.join('; ')}`, {
      option: 'engine',
    });
  }
  return {
    engine: 'git',
    reasons: needsGit.map((text, at) => ({ about: 'engine', text: `git: ${text}`, decided: at === 0 })),
  };
}
