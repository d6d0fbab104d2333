import { describe, expect, it } from 'vitest';
import { CheckoutError } from '../../src/engine/errors.ts';
import {
  parseByteSize,
  parseEngineChoice,
  parseMemoryLimit,
  parseTransportChoice,
  parseWorkers,
} from '../../src/engine/setting-values.ts';

function refusal(run: () => unknown): CheckoutError {
  try {
    run();
  } catch (error) {
    if (error instanceof CheckoutError) return error;
    throw error;
  }
  throw new Error('was not refused');
}

describe('parseWorkers', () => {
  it.each([
    ['auto', 'auto'],
    ['0', 0],
    [' 7 ', 7],
    ['1024', 1024],
    ['007', 7],
  ])('%j is %j', (text, value) => {
    expect(parseWorkers(text, '--workers')).toBe(value);
  });

  it.each(['', '-1', '+1', '1.5', '1e2', '0x10', '1025', '99999999999999999999', 'Auto', 'four', '٤', '4 4'])(
    'refuses %j and names the option',
    (text) => {
      const error = refusal(() => parseWorkers(text, 'workers'));
      expect(error.code).toBe('usage');
      expect(error.subject).toEqual({ option: 'workers' });
      expect(error.message).toBe(`workers: expected 'auto' or a whole number from 0 to 1024, not '${text}'`);
    },
  );
});

describe('sizes', () => {
  it.each([
    ['0', 0],
    ['16000000', 16_000_000],
    ['512MB', 512_000_000],
    ['512 mb', 512_000_000],
    ['2GiB', 2 * 2 ** 30],
    ['1.5g', 1.5 * 2 ** 30],
    ['64m', 64 * 2 ** 20],
    ['10k', 10_240],
    ['1T', 2 ** 40],
    ['100B', 100],
    ['1.4GB', 1_400_000_000],
    ['1.7', 1],
  ])('%s is %d bytes', (text, bytes) => {
    expect(parseByteSize(text, '--bytes')).toBe(bytes);
  });

  it.each(['', 'MB', '-1', '1,5GB', '.5g', '5.', '1xb', '1 0', '10%', 'auto', '1e9'])('refuses %j', (text) => {
    const error = refusal(() => parseByteSize(text, '--bytes'));
    expect(error.message).toBe(`--bytes: expected a size such as 512MB, 2GiB or a number of bytes, not '${text}'`);
    expect(error.subject).toEqual({ option: '--bytes' });
  });

  it('refuses what a number cannot hold exactly', () => {
    expect(refusal(() => parseByteSize('9000TiB', '--bytes')).message).toBe("--bytes: '9000TiB' is too large");
    expect(refusal(() => parseByteSize('9999999999999999', '--bytes')).message).toContain('too large');
  });
});

describe('parseMemoryLimit', () => {
  it('takes auto and sizes from 16 MB', () => {
    expect(parseMemoryLimit('auto', '--memory-limit')).toBe('auto');
    expect(parseMemoryLimit('16MB', '--memory-limit')).toBe(16_000_000);
  });

  it('refuses less, and what is no size', () => {
    expect(refusal(() => parseMemoryLimit('2', '--memory-limit')).message).toBe(
      "--memory-limit: at least 16MB are needed, not '2'",
    );
    expect(refusal(() => parseMemoryLimit('much', 'memory-limit')).message).toBe(
      "memory-limit: expected 'auto' or a size such as 512MB, 2GiB or a number of bytes, not 'much'",
    );
  });
});

it('takes the choices and nothing else', () => {
  expect(parseEngineChoice('native', '--engine')).toBe('native');
  expect(parseTransportChoice('stream', '--transport')).toBe('stream');
  expect(refusal(() => parseEngineChoice('stream', '--engine')).message).toBe(
    "--engine: expected one of 'auto', 'native', 'git', not 'stream'",
  );
  expect(refusal(() => parseTransportChoice('', 'transport')).subject).toEqual({ option: 'transport' });
});

it('repeats a refused value safely: one line, no control characters, not too long', () => {
  const { message } = refusal(() => parseWorkers(`a\n\u001b[2J${'x'.repeat(1000)}`, '--workers'));
  expect(message).toMatch(/not 'a\\x0a\\x1b\[2Jx+…'$/);
  expect(message.length).toBeLessThan(200);
});
