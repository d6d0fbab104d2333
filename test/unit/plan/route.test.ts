import { describe, expect, it } from 'vitest';
import { routeEngine } from '../../../src/engine/plan/route.ts';

const NEEDS = ['sparse checkout is on', 'the post-checkout hook is to be run'];

describe('routeEngine', () => {
  it('git when it was asked for, whatever is needed', () => {
    for (const needs of [[], NEEDS]) {
      expect(routeEngine('git', needs)).toEqual({
        engine: 'git',
        reasons: [{ about: 'engine', text: 'git, as asked for', decided: true }],
      });
    }
  });

  it('our own where nothing needs git', () => {
    for (const choice of ['auto', 'native'] as const) {
      const { engine, reasons } = routeEngine(choice, []);
      expect([engine, reasons.length, reasons[0]?.decided]).toEqual(['native', 1, true]);
      expect(reasons[0]?.text).toContain(choice === 'auto' ? 'nothing here needs git' : 'as asked for');
    }
  });

  it('git where something needs it, with all reasons, of which the first decided', () => {
    expect(routeEngine('auto', NEEDS)).toEqual({
      engine: 'git',
      reasons: [
        { about: 'engine', text: `git: ${NEEDS[0]}`, decided: true },
        { about: 'engine', text: `git: ${NEEDS[1]}`, decided: false },
      ],
    });
  });

  it('an error when ours was insisted on', () => {
    expect(() => routeEngine('native', NEEDS)).toThrow(
      expect.objectContaining({
        code: 'unsupported',
        subject: { option: 'engine' },
        message: `our own engine cannot check this out: ${NEEDS.join('; ')}`,
      }),
    );
  });
});
