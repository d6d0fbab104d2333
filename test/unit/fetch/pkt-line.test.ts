import { describe, expect, it } from 'vitest';
import { DELIM_PKT, FLUSH_PKT, MAX_PKT_BYTES, pktLine, PktReader } from '../../../src/engine/fetch/pkt-line.ts';

/** What a reader finds; pieces of band 1 that follow each other are one. */
function read(pieces: readonly Uint8Array[], sideBand = false): { found: string[]; between: boolean } {
  const found: string[] = [];
  let data = '';
  const flush = (): void => {
    if (data !== '') found.push(`data ${data}`);
    data = '';
  };
  const reader = new PktReader({
    line(payload) {
      flush();
      found.push(`line ${Buffer.from(payload).toString('latin1')}`);
    },
    special(kind) {
      flush();
      found.push(kind);
    },
    data(piece) {
      data += Buffer.from(piece).toString('latin1');
    },
  });
  reader.sideBand = sideBand;
  for (const piece of pieces) reader.push(piece);
  flush();
  return { found, between: reader.isBetweenLines };
}

describe('pktLine', () => {
  it('counts bytes, its own four among them', () => {
    expect(pktLine('')).toBe('0004');
    expect(pktLine('a\n')).toBe('0006a\n');
    expect(pktLine('é')).toBe('0006é');
    expect(pktLine('x'.repeat(MAX_PKT_BYTES - 4)).slice(0, 4)).toBe('fff0');
    expect(() => pktLine('x'.repeat(MAX_PKT_BYTES - 3))).toThrow(/too long/);
  });
});

describe('PktReader', () => {
  const whole = Buffer.from(
    `${pktLine('first\n')}${pktLine('')}${DELIM_PKT}0002${pktLine('\x01one')}${pktLine('\x01')}${pktLine('\x02two')}${pktLine('\x01three')}${FLUSH_PKT}`,
    'latin1',
  );
  const plain = [
    'line first\n',
    'line ',
    'delim',
    'response-end',
    'line \x01one',
    'line \x01',
    'line \x02two',
    'line \x01three',
    'flush',
  ];
  const multiplexed = [
    'line first\n',
    'line ',
    'delim',
    'response-end',
    'data one',
    'line \x02two',
    'data three',
    'flush',
  ];

  it.each([
    [false, plain],
    [true, multiplexed],
  ])('finds the same wherever the stream is cut (side band: %s)', (sideBand, expected) => {
    for (let at = 0; at <= whole.length; at++) {
      expect(read([whole.subarray(0, at), whole.subarray(at)], sideBand)).toEqual({ found: expected, between: true });
    }
    const bytes = [...whole].map((byte) => Buffer.from([byte]));
    expect(read(bytes, sideBand)).toEqual({ found: expected, between: true });
  });

  it('knows whether a line has begun', () => {
    const line = Buffer.from(pktLine('\x01ab'), 'latin1');
    for (let at = 1; at < line.length; at++) {
      expect(read([line.subarray(0, at)], true).between).toBe(false);
      expect(read([line.subarray(0, at)], false).between).toBe(false);
    }
  });

  it('takes the longest line', () => {
    const line = Buffer.from(pktLine('x'.repeat(MAX_PKT_BYTES - 4)));
    expect(read([line.subarray(0, 40000), line.subarray(40000)]).found).toEqual([
      `line ${'x'.repeat(MAX_PKT_BYTES - 4)}`,
    ]);
  });

  it.each(['0003', 'fff1', 'ffff', 'zzzz', '-001', '0x10', ' 004', '<htm'])('refuses the length %s', (length) => {
    expect(() => read([Buffer.from(`${length}aaaaaaaa`)])).toThrow(
      expect.objectContaining({ name: 'CheckoutError', code: 'fetch-failed' }),
    );
  });
});
