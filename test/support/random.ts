/**
 * Random numbers that repeat: a failure names its seed, and the seed makes the same case again.
 */

/** mulberry32: whole numbers from 0 up to, not including, `below`. */
export function randomNumbers(seed: number): (below: number) => number {
  let state = seed | 0;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

/** Bytes that no compressor makes smaller. */
export function randomBytes(seed: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let state = seed | 1;
  for (let i = 0; i < length; i++) {
    // xorshift32
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    bytes[i] = state;
  }
  return bytes;
}

/** Lines of words: compresses well, and versions of it make small deltas. */
export function randomText(seed: number, length: number): string {
  const random = randomNumbers(seed);
  const words = ['alpha', 'beta', 'gamma', 'delta', 'tree', 'blob', 'commit', 'index', 'pack', 'ref', 'file', 'link'];
  const parts: string[] = [];
  for (let at = 0; at < length;) {
    const word = `${words[random(words.length)] ?? ''}${random(1000)}${random(9) === 0 ? '\n' : ' '}`;
    parts.push(word);
    at += word.length;
  }
  return parts.join('').slice(0, length);
}
