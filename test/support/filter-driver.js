// A long-running filter process for tests: rot13, and whatever the name of a file says that it should do wrong. Every file
// that it is asked for is noted in the log that its first argument names; the others are the capabilities that it claims.
import { appendFileSync, readSync, writeSync } from 'node:fs';

const [log = '', ...capabilities] = process.argv.slice(2);

/** @param {number} length */
function readBytes(length) {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at < length;) {
    const got = readSync(0, bytes, at, length - at, null);
    if (got === 0) return null;
    at += got;
  }
  return bytes;
}

/** A packet's content; null for a flush packet, undefined at the end. */
function readPacket() {
  const digits = readBytes(4);
  if (digits === null) return undefined;
  const length = Number.parseInt(digits.toString('latin1'), 16);
  return length === 0 ? null : readBytes(length - 4);
}

/** @param {string} text */
function raw(text) {
  const bytes = Buffer.from(text, 'latin1');
  for (let at = 0; at < bytes.length;) at += writeSync(1, bytes, at);
}

/** @param {string[]} contents */
function packets(...contents) {
  raw(contents.map((content) => (content.length + 4).toString(16).padStart(4, '0') + content).join(''));
}

function flush() {
  raw('0000');
}

/** Packets up to a flush packet; null at the end. */
function readList() {
  const list = [];
  for (;;) {
    const packet = readPacket();
    if (packet === undefined) return null;
    if (packet === null) return list;
    list.push(packet.toString('latin1').replace(/\n$/, ''));
  }
}

/** @param {string} line */
function note(line) {
  appendFileSync(log, `${line}\n`, 'latin1');
}

/** @param {string} text */
function rot13(text) {
  return text.replace(/[a-zA-Z]/g, (letter) => {
    const base = letter <= 'Z' ? 65 : 97;
    return String.fromCharCode(((letter.charCodeAt(0) - base + 13) % 26) + base);
  });
}

/** @param {string} content */
function sendContent(content) {
  for (let at = 0; at < content.length; at += 65516) packets(content.slice(at, at + 65516));
  flush();
}

/** @param {string} status */
function sendStatus(status) {
  packets(`status=${status}\n`);
  flush();
}

note('START');
readList();
packets('git-filter-server\n', 'version=2\n');
flush();
readList();
packets(...capabilities.map((name) => `capability=${name}\n`));
flush();

/**
 * What was put off, by path.
 * @type {Map<string, { content: string, listed: boolean }>}
 */
const delayed = new Map();
let asked = 0;
for (;;) {
  const request = readList();
  if (request === null) break;
  const value = (/** @type {string} */ key) =>
    request.find((line) => line.startsWith(`${key}=`))?.slice(key.length + 1);
  if (value('command') === 'list_available_blobs') {
    note('LIST');
    asked++;
    const ready = [...delayed.keys()].filter(
      (path) => !path.includes('never') && (asked > 1 || !path.includes('second')),
    );
    const announced = ready.filter((path) => delayed.get(path)?.listed === false);
    for (const path of announced) delayed.set(path, { content: delayed.get(path)?.content ?? '', listed: true });
    if (announced.some((path) => path.includes('list-crash'))) process.exit(3);
    const unknown = announced.some((path) => path.includes('list-unknown')) ? ['pathname=nobody-asked\n'] : [];
    packets(...announced.map((path) => `pathname=${path}\n`), ...unknown);
    flush();
    sendStatus(announced.some((path) => path.includes('list-error')) ? 'error' : 'success');
    continue;
  }
  const path = value('pathname') ?? '';
  let content = '';
  for (;;) {
    const packet = readPacket();
    if (packet === null || packet === undefined) break;
    content += packet.toString('latin1');
  }
  note(`${request.join(' ')} size=${content.length}`);
  if (path.includes('delay') && value('can-delay') === '1') {
    delayed.set(path, { content, listed: false });
    sendStatus('delayed');
    continue;
  }
  const before = delayed.get(path);
  if (before !== undefined) content = before.content;
  delayed.delete(path);
  if (path.includes('say-error')) sendStatus('error');
  else if (path.includes('say-abort')) sendStatus('abort');
  else if (path.includes('say-what')) sendStatus('what');
  else if (path.includes('say-later')) sendStatus('delayed');
  else if (path.includes('say-nothing')) flush();
  else if (path.includes('crash-first')) process.exit(1);
  else if (path.includes('garbage')) raw('this is no packet');
  else {
    // The last status of a list counts.
    packets('status=error\n', 'other=1\n', 'status=success\n');
    flush();
    if (path.includes('crash-middle')) {
      packets('half');
      process.exit(1);
    }
    sendContent(rot13(content));
    if (path.includes('late-error')) sendStatus('error');
    else if (path.includes('late-success')) sendStatus('success');
    else flush();
  }
}
note('STOP');
