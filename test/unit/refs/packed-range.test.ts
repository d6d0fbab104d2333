/** What git 2.39.5 does with each of these files was seen with `git replace --list`. */
import { describe, expect, it } from 'vitest';
import { SHA1 } from '../../../src/engine/oid.ts';
import { packedRefsBelow } from '../../../src/engine/refs/packed-range.ts';

const A = 'a'.repeat(40);
const B = 'b'.repeat(40);
const SORTED = '# pack-refs with: peeled fully-peeled sorted \n';
const MAIN = `${A} refs/heads/main\n`;
const ONE = `${A} refs/replace/38f2\n`;
const TWO = `${B} refs/replace/b53e\n`;

const namesIn = (text: string): string[] =>
  packedRefsBelow(Buffer.from(text, 'latin1'), 'refs/replace/', SHA1).map(
    ({ name, oid }) => `${name} ${oid?.[0] ?? ''}`,
  );
const ALL = ['refs/replace/38f2 a', 'refs/replace/b53e b'];

describe('packedRefsBelow', () => {
  it.each([
    ['sorted', SORTED + MAIN + ONE + TWO, ALL],
    ['without a header', MAIN + ONE + TWO, ALL],
    ['not sorted, and not said to be', TWO + MAIN + ONE, ALL],
    ['with peeled tags', `${SORTED}${MAIN}${ONE}^${B}\n${TWO}${A} refs/tags/v\n^${B}\n`, ALL],
    ['with none of the prefix', SORTED + MAIN, []],
    ['empty', '', []],
    ['of a header alone', SORTED, []],
    ['an id in capitals', SORTED + MAIN + ONE.replaceAll('a', 'A').replace('replAce', 'replace') + TWO, ALL],
    ['a name behind the prefix before those of it', `${SORTED}${MAIN}${A} ref\xf3/replace/38f2\n${TWO}`, []],
    ['the same, in its middle', `${SORTED}${MAIN}${A} refs/repla\xe3e/38f2\n${TWO}`, []],
    ['the same, in a file that has to be sorted', `${MAIN}${A} refs/repla\xe3e/38f2\n${TWO}`, ALL.slice(1)],
    ['a name that no ref may have', `${SORTED}${MAIN}${A} refs/replace/3..8\n${TWO}`, ['refs/replace/3..8 ', ALL[1]]],
    ['damage before what is read', `${SORTED}x${MAIN.slice(1)}${ONE}${TWO}`, ALL],
  ])('%s', (_, text, expected) => {
    expect([...namesIn(text)].sort()).toEqual(expected);
  });

  it.each([
    ['a damaged header', SORTED.replace('refs', 'ref{') + MAIN],
    ['an id that is none', `${SORTED}${MAIN}${A.slice(1)}\xff refs/replace/38f2\n${TWO}`],
    ['an id that is none behind the others', `${SORTED}${MAIN}${ONE}${TWO}${A.slice(1)}x refs/tags/v\n`],
    ['a peeled id that is none', `${SORTED}${MAIN}${ONE}^${B.slice(1)}x\n${TWO}`],
    ['a name that leads out', `${SORTED}${MAIN}${A} refs/replace/../../x\n${TWO}`],
    ['a name that ends with a zero byte', `${SORTED}${MAIN}${ONE}${A} refs/\0\0b53e\n`],
    ['a last line too short for a ref', `${SORTED}${MAIN}${A}\n`],
    ['two peeled lines in a file that has to be sorted', `${MAIN}${ONE}${TWO}${A} refs/tags/v\n^${A}\n^${A}\n`],
    ['a short line in a file that has to be sorted', `${MAIN}x\n${ONE}`],
  ])('refuses %s', (_, text) => {
    expect(() => namesIn(text)).toThrow(/packed-refs has a line that is none/);
  });
});
