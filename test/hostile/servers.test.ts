/**
 * Servers that stop at any byte, or answer with anything: the exchange ends in time, with one error that has a code, and leaves nothing.
 * `npm run fuzz:server` has more of them.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ExchangePlace } from '../fuzz/server/exchange-runner.ts';
import { randomScript, stoppedScript, type ServerScript } from '../fuzz/server/script.ts';
import { memoryFolder, temporaryFolder } from '../support/temporary.ts';

const folder = temporaryFolder('servers', memoryFolder());
const long = process.env['LONG_TESTS'] === '1';

describe('a server', () => {
  let place: ExchangePlace;
  beforeAll(async () => {
    place = await ExchangePlace.open(folder);
  });
  afterAll(async () => {
    await place.close();
  });

  const whole = stoppedScript(null, 'end');
  const total = whole.answers.reduce((sum, { length }) => sum + length, 0);

  async function codeOf(script: ServerScript, name: string): Promise<string> {
    const { code, fault } = await place.run(script);
    expect(fault, name).toBeNull();
    return code;
  }

  it('that does what it must is believed', async () => {
    expect(await codeOf(whole, 'whole')).toBe('taken');
    for (let size = 1; size < 40; size += 13)
      expect(await codeOf({ ...whole, writes: [size] }, `writes of ${size}`)).toBe('taken');
    expect(await codeOf({ ...whole, closes: true }, 'closes')).toBe('taken');
  });

  // Of two bytes that follow each other one is cut off, the other one reset.
  it('that stops at any byte', async () => {
    for (let at = 0; at < total; at += long ? 1 : 3) {
      const stop = at % 2 === 0 ? 'end' : 'reset';
      // The last chunk's own end is HTTP's business.
      expect(await codeOf(stoppedScript(at, stop), `${stop} at byte ${at}`)).toMatch(/^(fetch-failed|object-corrupt)$/);
    }
  }, 120_000);

  // It says nothing of it before.
  it.each([4281, 5591])('that closes the connection behind each answer (seed %i)', async (seed) => {
    for (let times = 0; times < 10; times++) expect(await codeOf(randomScript(seed), `seed ${seed}`)).toBe('taken');
  });

  it('that falls silent', async () => {
    const [first, second] = whole.answers;
    for (const at of [0, 30, first.length, first.length + second.length + 200, total - 3]) {
      expect(await codeOf(stoppedScript(at, 'silence'), `silence at byte ${at}`)).toBe('fetch-failed');
    }
  }, 30_000);

  it('that answers with anything', async () => {
    const codes = new Set<string>();
    for (let seed = 0; seed < (long ? 5000 : 120); seed++) codes.add(await codeOf(randomScript(seed), `seed ${seed}`));
    // The cases are worth something.
    for (const code of ['taken', 'fetch-failed', 'object-corrupt', 'authentication-failed'])
      expect(codes).toContain(code);
  }, 120_000);
});
