/**
 * What a server does in one case, all of it told by a seed: valid answers in many forms, damaged ones, delays, and ends at any byte.
 */
import { gzipSync } from 'node:zlib';
import { createHash } from 'node:crypto';
import { randomNumbers } from '../../support/random.ts';
import { COMMIT_OID, fetchAnswer, OFFER, OFFER_TYPE, PACK, REFS, RESULT_TYPE } from './small-exchange.ts';

export interface ServerScript {
  /** What it answers to the first question, to `ls-refs` and to `fetch`, head and all. */
  readonly answers: readonly [Buffer, Buffer, Buffer];
  /** Answers must be right, so that the exchange must succeed. */
  readonly isValid: boolean;
  /** After so many bytes of all answers it stops; null for never. */
  readonly stopAt: number | null;
  readonly stop: 'end' | 'reset' | 'silence';
  /** Sizes of the writes, again and again, and the pause after each. */
  readonly writes: readonly number[];
  readonly pauseMs: number;
  /** Closes the connection after each answer. */
  readonly closes: boolean;
}

type Encoding = 'length' | 'chunked' | 'close' | 'gzip' | 'gzip-chunked';

/** An answer as it goes over the wire. */
export function httpAnswer(type: string, body: Buffer, encoding: Encoding, status = '200 OK', extra = ''): Buffer {
  const content = encoding.startsWith('gzip') ? gzipSync(body) : body;
  let head = `HTTP/1.1 ${status}\r\nContent-Type: ${type}\r\n${extra}`;
  if (encoding.startsWith('gzip')) head += 'Content-Encoding: gzip\r\n';
  if (encoding === 'close') return Buffer.concat([Buffer.from(`${head}Connection: close\r\n\r\n`), content]);
  if (!encoding.endsWith('chunked')) {
    return Buffer.concat([Buffer.from(`${head}Content-Length: ${content.length}\r\n\r\n`), content]);
  }
  const parts: Buffer[] = [Buffer.from(`${head}Transfer-Encoding: chunked\r\n\r\n`)];
  for (let at = 0; at < content.length; at += 100) {
    const piece = content.subarray(at, at + 100);
    parts.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'));
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')]);
}

/** The exchange as it must be, that stops after so many bytes. */
export function stoppedScript(stopAt: number | null, stop: ServerScript['stop']): ServerScript {
  return {
    answers: [
      httpAnswer(OFFER_TYPE, OFFER, 'length'),
      httpAnswer(RESULT_TYPE, REFS, 'length'),
      httpAnswer(RESULT_TYPE, fetchAnswer(PACK, [100]), 'chunked'),
    ],
    isValid: stopAt === null,
    stopAt,
    stop,
    writes: [1 << 20],
    pauseMs: 0,
    closes: false,
  };
}

/** Changes some bytes. */
function damaged(bytes: Buffer, random: (below: number) => number): Buffer {
  let out = Buffer.from(bytes);
  for (let times = 1 + random(3); times > 0; times--) {
    const at = random(out.length + 1);
    const other = random(out.length + 1);
    switch (random(6)) {
      case 0:
        if (at < out.length) out[at]! ^= 1 << random(8);
        break;
      case 1:
        out = Buffer.concat([out.subarray(0, at), out.subarray(Math.min(out.length, at + 1 + random(20)))]);
        break;
      case 2:
        out = Buffer.concat([out.subarray(0, at), Buffer.from([random(256)]), out.subarray(at)]);
        break;
      case 3:
        // A part twice.
        out = Buffer.concat([out.subarray(0, Math.max(at, other)), out.subarray(Math.min(at, other))]);
        break;
      case 4:
        out = out.subarray(0, at);
        break;
      default: {
        // What means something to somebody.
        const words = [
          '0000',
          '0001',
          '0002',
          '0003',
          'ffff',
          'fff0',
          '0004',
          '0005\x01',
          '\x03',
          'ERR no',
          '\r\n',
          '\0',
          'PACK',
          'packfile\n',
          '0010packfile',
          COMMIT_OID,
        ];
        const word = Buffer.from(words[random(words.length)] ?? '', 'latin1');
        out = Buffer.concat([out.subarray(0, at), word, out.subarray(at + (random(2) === 0 ? 0 : word.length))]);
      }
    }
  }
  return out;
}

/** The pack with damage, half of the time with a checksum that fits. */
function damagedPack(random: (below: number) => number): Buffer {
  const out = damaged(PACK, random);
  if (random(2) === 0 || out.length < 20) return out;
  const body = out.subarray(0, out.length - 20);
  return Buffer.concat([body, createHash('sha1').update(body).digest()]);
}

export function randomScript(seed: number): ServerScript {
  const random = randomNumbers(seed);
  const encodings: readonly Encoding[] = ['length', 'chunked', 'close', 'gzip', 'gzip-chunked'];
  const encoding = (): Encoding => encodings[random(encodings.length)] ?? 'length';
  const between = [Buffer.from('\x02counting\r'), Buffer.from([1]), Buffer.alloc(0), Buffer.from('\x02\n')].slice(
    random(5),
  );
  const pieces = Array.from({ length: 1 + random(3) }, () => 1 + random(400));
  const bodies: [Buffer, Buffer, Buffer] = [OFFER, REFS, fetchAnswer(PACK, pieces, between)];
  // What is wrong, if anything: the pack, the protocol's lines, the HTTP around them, another status.
  const fault = random(6);
  const which = random(3);
  if (fault === 1) bodies[2] = fetchAnswer(damagedPack(random), pieces, between);
  if (fault === 2) bodies[which] = damaged(bodies[which] ?? OFFER, random);
  const types = [OFFER_TYPE, RESULT_TYPE, RESULT_TYPE];
  const answers = bodies.map((body, i) => httpAnswer(types[i] ?? '', body, encoding())) as [Buffer, Buffer, Buffer];
  if (fault === 3) answers[which] = damaged(answers[which] ?? OFFER, random);
  if (fault === 4) {
    const statuses = [
      '204 No Content',
      '206 Partial',
      '301 Moved',
      '302 Found',
      '304 Not Modified',
      '401 No',
      '403 No',
      '404 No',
      '407 No',
      '429 Slow',
      '500 Oh',
      '503 Busy',
      '100 Continue',
      '101 Switching',
      '999 What',
    ];
    const locations = [
      '',
      'Location: /\r\n',
      'Location: http://127.0.0.1:1/info/refs?service=git-upload-pack\r\n',
      'Location: file:///x\r\n',
      'Retry-After: 99999999999\r\n',
    ];
    const bodyType = random(2) === 0 ? 'text/plain' : RESULT_TYPE;
    answers[which] = httpAnswer(
      bodyType,
      Buffer.from('sorry'),
      encoding(),
      statuses[random(statuses.length)],
      locations[random(locations.length)],
    );
  }
  const stops = ['end', 'reset', 'silence'] as const;
  const total = answers.reduce((sum, { length }) => sum + length, 0);
  return {
    answers,
    isValid: fault === 0,
    stopAt: fault === 5 ? random(total) : null,
    // Silence takes its time.
    stop: stops[random(30) === 0 ? 2 : random(2)] ?? 'end',
    writes: random(2) === 0 ? [1 << 20] : Array.from({ length: 1 + random(4) }, () => 1 + random(300)),
    pauseMs: random(20) === 0 ? random(4) : 0,
    closes: random(4) === 0,
  };
}
