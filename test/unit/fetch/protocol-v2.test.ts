import { describe, expect, it } from 'vitest';
import { DELIM_PKT, FLUSH_PKT, pktLine } from '../../../src/engine/fetch/pkt-line.ts';
import {
  FetchAnswer,
  fetchRequest,
  lsRefsRequest,
  offers,
  parseAdvertisement,
  parseRefs,
} from '../../../src/engine/fetch/protocol-v2.ts';
import { SHA1, SHA256 } from '../../../src/engine/oid.ts';
import { git, GitRepository } from '../../support/repository.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const A = 'a'.repeat(40);
const B = 'b'.repeat(40);

function lines(...all: readonly string[]): Buffer {
  return Buffer.from(all.map((line) => (/^000[0-3]$/.test(line) ? line : pktLine(line))).join(''), 'latin1');
}

const failed = (message: RegExp, code = 'fetch-failed'): unknown =>
  expect.objectContaining({ name: 'CheckoutError', code, message: expect.stringMatching(message) as string });

describe('parseAdvertisement', () => {
  const service = ['# service=git-upload-pack\n', FLUSH_PKT];

  it.each([[service], [[]]])('reads what a server offers, with %j before it', (before) => {
    const offered = parseAdvertisement(
      lines(
        ...before,
        'version 2\n',
        'agent=git/2.39.5\n',
        'ls-refs=unborn\n',
        'fetch=shallow filter\n',
        'server-option\n',
        'object-format=sha256\n',
        FLUSH_PKT,
      ),
    );
    expect(offered?.objectFormat).toBe(SHA256);
    expect([...(offered?.values ?? [])]).toEqual([
      ['agent', 'git/2.39.5'],
      ['ls-refs', 'unborn'],
      ['fetch', 'shallow filter'],
      ['server-option', ''],
      ['object-format', 'sha256'],
    ]);
    expect(offered !== null && offers(offered, 'fetch', 'filter')).toBe(true);
    expect(offered !== null && offers(offered, 'fetch', 'filt')).toBe(false);
    expect(offered !== null && offers(offered, 'server-option')).toBe(true);
    expect(offered !== null && offers(offered, 'object-info')).toBe(false);
  });

  it('takes ids for SHA-1 where the server says nothing', () => {
    expect(parseAdvertisement(lines('version 2', FLUSH_PKT))?.objectFormat).toBe(SHA1);
  });

  it('tells an older version, even of an answer that is cut off', () => {
    const v0 = lines(...service, `${A} HEAD\0multi_ack agent=git/1.7\n`, `${A} refs/heads/main\n`, FLUSH_PKT);
    expect(parseAdvertisement(v0)).toBeNull();
    expect(parseAdvertisement(v0.subarray(0, v0.length - 10))).toBeNull();
    expect(parseAdvertisement(lines(...service, 'version 1\n', `${A} HEAD\0x\n`, FLUSH_PKT))).toBeNull();
  });

  it.each([
    ['nothing', Buffer.alloc(0), /empty/],
    ['the service alone', lines(...service), /empty/],
    ['a page', Buffer.from('<!DOCTYPE html><html>'), /no length/],
    ['an end too early', lines('version 2', 'fetch=shallow'), /ends too early/],
    ['a reason', lines('ERR access denied\n'), /the server reports: access denied$/],
    ['a strange format', lines('version 2', 'object-format=md\x1b5', FLUSH_PKT), /'md\\x1b5'/],
    ['very much', lines('version 2', ...Array.from({ length: 300 }, (_, i) => `x${i}`), FLUSH_PKT), /too much/],
  ])('refuses %s', (_, body, message) => {
    expect(() => parseAdvertisement(body)).toThrow(failed(message));
  });

  it('agrees with git', () => {
    const repository = new GitRepository(temporaryFolder('advertisement'));
    const said = git(repository.directory, ['upload-pack', '--http-backend-info-refs', '.'], {
      env: { GIT_PROTOCOL: 'version=2' },
    });
    const offered = parseAdvertisement(said);
    expect(offered !== null && offers(offered, 'fetch', 'shallow')).toBe(true);
    expect(offered?.objectFormat).toBe(SHA1);
    // What we ask is what git understands.
    const { commit } = repository.commit({ a: 'a' });
    const ask = (request: Buffer): Buffer =>
      git(repository.directory, ['upload-pack', '--stateless-rpc', '.'], {
        env: { GIT_PROTOCOL: 'version=2' },
        input: request,
      });
    if (offered === null) throw new Error('no advertisement');
    expect(parseRefs(ask(lsRefsRequest(offered, 'test/1', ['refs/heads/', 'HEAD'])), SHA1)).toEqual([
      { name: 'HEAD', oid: commit, target: 'refs/heads/main', peeled: null },
      { name: 'refs/heads/main', oid: commit, target: null, peeled: null },
    ]);
    const pieces: Buffer[] = [];
    const answer = new FetchAnswer(
      SHA1,
      (piece) => pieces.push(Buffer.from(piece)),
      () => undefined,
    );
    answer.push(
      ask(fetchRequest(offered, 'test/1', { wants: [commit], depth: 1, filter: null, includeTag: true, shallow: [] })),
    );
    answer.end();
    // Of a root, too, git says that the history ends there.
    expect(answer.shallow).toEqual([commit]);
    expect(Buffer.concat(pieces).toString('latin1', 0, 4)).toBe('PACK');
  });
});

describe('requests', () => {
  it('name an agent and a format only where the server offered them', () => {
    const silent = { values: new Map([['fetch', 'shallow']]), objectFormat: SHA1 };
    const talking = {
      values: new Map([
        ['agent', 'x'],
        ['object-format', 'sha1'],
      ]),
      objectFormat: SHA1,
    };
    expect(lsRefsRequest(silent, 'me/1', []).toString()).toBe(
      `${pktLine('command=ls-refs')}${DELIM_PKT}${pktLine('symrefs\n')}${pktLine('peel\n')}${FLUSH_PKT}`,
    );
    expect(lsRefsRequest(talking, 'me/1', ['refs/é']).toString()).toBe(
      `${pktLine('command=ls-refs')}${pktLine('agent=me/1')}${pktLine('object-format=sha1')}${DELIM_PKT}` +
        `${pktLine('symrefs\n')}${pktLine('peel\n')}${pktLine('ref-prefix refs/é\n')}${FLUSH_PKT}`,
    );
  });

  it('ask for what a command names', () => {
    const offered = { values: new Map<string, string>(), objectFormat: SHA1 };
    const text = (command: Partial<Parameters<typeof fetchRequest>[2]>): string =>
      fetchRequest(offered, 'x', {
        wants: [A, B],
        depth: null,
        filter: null,
        includeTag: false,
        shallow: [],
        ...command,
      }).toString();
    expect(text({})).not.toMatch(/deepen|filter|include-tag|shallow/);
    const all = text({ depth: 3, filter: 'blob:none', includeTag: true, shallow: [B] });
    for (const line of [
      'include-tag',
      `shallow ${B}`,
      'deepen 3',
      'filter blob:none',
      `want ${A}\n`,
      `want ${B}\n`,
      'done\n',
    ]) {
      expect(all).toContain(pktLine(line));
    }
  });
});

describe('parseRefs', () => {
  it('reads names, targets and what tags are of', () => {
    const body = lines(
      `${A} HEAD symref-target:refs/heads/main\n`,
      `${B.toUpperCase()} refs/tags/v1 peeled:${A}`,
      FLUSH_PKT,
    );
    expect(parseRefs(body, SHA1)).toEqual([
      { name: 'HEAD', oid: A, target: 'refs/heads/main', peeled: null },
      { name: 'refs/tags/v1', oid: B, target: null, peeled: A },
    ]);
    expect(parseRefs(lines(FLUSH_PKT), SHA1)).toEqual([]);
    // What would be more than a name in FETCH_HEAD.
    const forged = lines(`${A} refs/heads/x\n${B}\t\tbranch\n`, `${A} HEAD symref-target:refs/heads/a\x7f`, FLUSH_PKT);
    expect(parseRefs(forged, SHA1)).toEqual([{ name: 'HEAD', oid: A, target: null, peeled: null }]);
  });

  it.each([
    ['nothing', Buffer.alloc(0), /ends too early/, 'fetch-failed'],
    ['an end within a line', lines(`${A} HEAD\n`, FLUSH_PKT).subarray(0, 20), /ends too early/, 'fetch-failed'],
    [
      'half a line behind the end',
      Buffer.concat([lines(FLUSH_PKT), Buffer.from('00')]),
      /ends too early/,
      'fetch-failed',
    ],
    ['a line behind the end', lines(FLUSH_PKT, `${A} HEAD`), /behind its end/, 'fetch-failed'],
    ['a short id', lines(`${A.slice(1)} HEAD`, FLUSH_PKT), /a ref that is none/, 'fetch-failed'],
    ['no name', lines(A, FLUSH_PKT), /a ref that is none/, 'fetch-failed'],
    ['a wrong peeled id', lines(`${A} refs/tags/x peeled:zz`, FLUSH_PKT), /a tag that is none/, 'fetch-failed'],
    ['a reason', lines('ERR upload-pack: not our ref x'), /not our ref/, 'unknown-revision'],
  ])('refuses %s', (_, body, message, code) => {
    expect(() => parseRefs(body, SHA1)).toThrow(failed(message, code));
  });
});

describe('FetchAnswer', () => {
  function answer(
    body: Buffer,
    cut = body.length,
  ): { pack: string; said: string[]; shallow: string[]; unshallow: string[] } {
    let pack = '';
    const said: string[] = [];
    const read = new FetchAnswer(
      SHA1,
      (piece) => (pack += Buffer.from(piece).toString('latin1')),
      (line) => said.push(line),
    );
    read.push(body.subarray(0, cut));
    read.push(body.subarray(cut));
    read.end();
    return { pack, said, shallow: read.shallow, unshallow: read.unshallow };
  }
  const whole = lines(
    'acknowledgments\n', `ACK ${A}\n`, 'ready\n', DELIM_PKT,
    'shallow-info\n', `shallow ${A}`, `shallow ${B}\n`, `unshallow ${B}`, DELIM_PKT,
    'wanted-refs\n', `${A} refs/heads/main`, DELIM_PKT,
    'packfile-uris\n', 'x https://elsewhere/', DELIM_PKT,
    'packfile\n', '\x02Counting: 1%\rCounting: 100%\nhal', '\x01PACK', '\x01', '', '\x02f a line\n', '\x01rest', FLUSH_PKT,
  ); // prettier-ignore

  it('reads all sections wherever the answer is cut; an empty line or piece keeps the connection alive', () => {
    for (let cut = 0; cut <= whole.length; cut++) {
      expect(answer(whole, cut)).toEqual({
        pack: 'PACKrest',
        said: ['Counting: 1%', 'Counting: 100%', 'half a line'],
        shallow: [A, B],
        unshallow: [B],
      });
    }
  });

  it('knows at every byte that the answer is not complete', () => {
    for (let length = 0; length < whole.length; length++) {
      expect(() => answer(whole.subarray(0, length))).toThrow(failed(/ends too early/));
    }
  });

  it.each([
    ['no pack', lines('shallow-info', `shallow ${A}`, FLUSH_PKT), /has no pack/, 'fetch-failed'],
    ['a flush alone', lines(FLUSH_PKT), /has no pack/, 'fetch-failed'],
    ['something behind the end', lines('packfile', FLUSH_PKT, 'packfile'), /behind its end/, 'fetch-failed'],
    ['two ends', lines('packfile', FLUSH_PKT, FLUSH_PKT), /behind its end/, 'fetch-failed'],
    ['a section behind the pack', lines('packfile', '\x01x', DELIM_PKT, 'packfile'), /behind the pack/, 'fetch-failed'],
    ['data of the pack behind the end', lines('packfile', FLUSH_PKT, '\x01x'), /behind its end/, 'fetch-failed'],
    [
      'an error band',
      lines('packfile', '\x01PA', '\x03out of \x1b memory\n'),
      /reports: out of \\x1b memory$/,
      'fetch-failed',
    ],
    ['an unknown band', lines('packfile', '\x04x'), /unknown side band, 4/, 'fetch-failed'],
    ['a depth line that is none', lines('shallow-info', 'shallow x'), /line about depth/, 'fetch-failed'],
    ['another depth line', lines('shallow-info', `deep ${A}`), /line about depth/, 'fetch-failed'],
    ['a reason', lines('ERR upload-pack: not our ref'), /not our ref/, 'unknown-revision'],
    ['a reason within a section', lines('shallow-info', 'ERR no'), /the server reports: no$/, 'fetch-failed'],
  ])('refuses %s', (_, body, message, code) => {
    expect(() => answer(body)).toThrow(failed(message, code));
  });

  it('does not hoard what a server says', () => {
    const said: string[] = [];
    const read = new FetchAnswer(
      SHA1,
      () => undefined,
      (line) => said.push(line),
    );
    read.push(lines('packfile'));
    const begun = performance.now();
    // A line without an end, byte by byte; then many short ones.
    const piece = lines('\x02x');
    for (let i = 0; i < 100_000; i++) read.push(piece);
    read.push(lines('\x02\n'));
    expect(said).toHaveLength(1);
    expect(said[0]?.length).toBeLessThan(1100);
    const text = lines(`\x02${'a\n'.repeat(30000)}`);
    for (let i = 0; i < 40; i++) read.push(text);
    expect(said.length).toBeLessThan(600_000);
    expect(performance.now() - begun).toBeLessThan(10_000);
  });
});
