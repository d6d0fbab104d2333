/**
 * Lets our client and receiver meet one server of a script, and looks at what comes of it.
 */
import { mkdirSync, readdirSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { CheckoutError } from '../../../src/engine/errors.ts';
import { HttpRemote } from '../../../src/engine/fetch/http-remote.ts';
import { Receiver } from '../../support/received-pack.ts';
import type { ServerScript } from './script.ts';
import { COMMIT_OID } from './small-exchange.ts';

/** A server that says nothing is given up after so long. */
const STALL_MS = 300;
/** One that does what it must is waited for: the machine may be busy. */
const STALL_OF_NONE_MS = 10_000;
/** No exchange takes so long: three requests that stall, each tried twice, and a slow machine. */
export const DEADLINE_MS = 15_000;

export interface ExchangeResult {
  /** Code of the error; 'taken', or 'no version 2'. */
  readonly code: string;
  /** What must not be; null when all is well. */
  readonly fault: string | null;
}

/** One server for all scripts, and the folders of the receiver. */
export class ExchangePlace {
  readonly #server: Server;
  readonly #objects: string;
  readonly #workTree: string;
  readonly #sockets = new Set<Socket>();
  #script: ServerScript | null = null;
  #left = Infinity;

  private constructor(folder: string) {
    this.#objects = join(folder, 'objects');
    this.#workTree = join(folder, 'tree');
    mkdirSync(this.#workTree, { recursive: true });
    this.#server = createServer((socket) => this.#meet(socket));
  }

  static async open(folder: string): Promise<ExchangePlace> {
    const place = new ExchangePlace(folder);
    await new Promise<void>((resolve) => void place.#server.listen(0, '127.0.0.1', resolve));
    return place;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async run(script: ServerScript): Promise<ExchangeResult> {
    this.#script = script;
    this.#left = script.stopAt ?? Infinity;
    const receiver = new Receiver(this.#objects, { workTree: { path: this.#workTree, commit: COMMIT_OID } });
    const remote = new HttpRemote({
      url: `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/r.git`,
      headers: [['Authorization', 'Basic c2VjcmV0']],
      userAgent: 'fuzz/1',
      proxyFor: () => '',
      ca: null,
      systemCa: async () => await Promise.resolve([]),
      followRedirects: true,
      stallMs: script.isValid ? STALL_OF_NONE_MS : STALL_MS,
    });
    const late = Symbol('late');
    const deadline = new AbortController();
    const outcome = await Promise.race([
      this.#exchange(remote, receiver).catch((error: unknown) => error),
      pause(DEADLINE_MS, late, { signal: deadline.signal }).catch(() => late),
    ]);
    deadline.abort();
    remote.close();
    await receiver.abandon();
    for (const socket of this.#sockets) socket.destroy();
    return { code: codeOf(outcome), fault: outcome === late ? 'it hangs' : this.#faultOf(outcome, script) };
  }

  #faultOf(outcome: unknown, script: ServerScript): string | null {
    if (typeof outcome !== 'string') {
      if (!(outcome instanceof CheckoutError))
        return `it throws ${outcome instanceof Error ? (outcome.stack ?? '') : String(outcome)}`;
      // eslint-disable-next-line no-control-regex -- what must not be in a line
      if (/[\u0000-\u001f]|c2VjcmV0/.test(outcome.message)) return `a message that must not be: ${outcome.message}`;
    }
    const left = [...readdirSync(join(this.#objects, 'pack')), ...readdirSync(this.#workTree)];
    if (left.length > 0) return `left behind: ${left.join(' ')}`;
    if (script.isValid && outcome !== 'taken')
      return `a right exchange ends with ${outcome instanceof Error ? outcome.message : outcome}`;
    return null;
  }

  async #exchange(remote: HttpRemote, receiver: Receiver): Promise<string> {
    if ((await remote.discover()) === null) return 'no version 2';
    const refs = await remote.lsRefs(['refs/heads/', 'HEAD']);
    const want = refs.find(({ name }) => name === 'refs/heads/main')?.oid ?? COMMIT_OID;
    const command = { wants: [want], depth: 1, filter: null, includeTag: false, shallow: [] };
    const { shallow } = await remote.fetch(
      command,
      (piece) => receiver.push(piece),
      () => undefined,
    );
    await receiver.finish({ wants: [want], shallow });
    return 'taken';
  }

  #meet(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => this.#sockets.delete(socket));
    let held = '';
    socket.on('data', (piece) => {
      held += piece.toString('latin1');
      const head = held.indexOf('\r\n\r\n');
      if (head < 0) return;
      const length = Number(/content-length: (\d+)/i.exec(held)?.[1] ?? '0');
      if (held.length < head + 4 + length) return;
      const which = held.startsWith('GET') ? 0 : held.includes('command=ls-refs') ? 1 : 2;
      held = held.slice(head + 4 + length);
      void this.#answer(socket, which);
    });
  }

  async #answer(socket: Socket, which: 0 | 1 | 2): Promise<void> {
    const script = this.#script;
    if (script === null) return;
    const whole = script.answers[which];
    const answer = whole.subarray(0, Math.min(whole.length, this.#left));
    this.#left -= answer.length;
    for (let at = 0, write = 0; at < answer.length && !socket.destroyed; write++) {
      const size = script.writes[write % script.writes.length] ?? 1;
      socket.write(answer.subarray(at, at + size));
      at += size;
      // Not behind the last one: the next request could come before the end.
      if (script.pauseMs > 0 && at < answer.length) await pause(script.pauseMs);
    }
    if (answer.length < whole.length) {
      if (script.stop === 'end') socket.end();
      // What was written goes out before.
      else if (script.stop === 'reset') setTimeout(() => socket.resetAndDestroy(), 1);
    } else if (script.closes || whole.includes('Connection: close')) {
      socket.end();
    }
  }
}

function codeOf(outcome: unknown): string {
  if (typeof outcome === 'string') return outcome;
  return outcome instanceof CheckoutError ? outcome.code : 'a fault';
}
