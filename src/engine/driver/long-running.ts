/**
 * A filter driver that stays and filters one file after the other (gitattributes(5), "Long Running Filter Process"): the
 * protocol of one process, from its handshake to its end.
 */
import type { Bytes } from '../bytes.ts';
import { displayBytes } from '../bytes.ts';
import { CheckoutError } from '../errors.ts';
import { DriverProcess, throwIfStopped, type DriverSettings } from './driver-process.ts';
import { flushPacket, MAX_PACKET_DATA, PacketError, PacketReader, PacketWriter, textPacket } from './packet-line.ts';

/** What git offers, in its order. */
const CAPABILITIES = ['clean', 'smudge', 'delay'];

/** A process that is closed gets this long to finish its work; git would wait for ever. */
const CLOSING_MS = 60_000;

/** One file for the driver. */
export interface SmudgeRequest {
  readonly path: Bytes;
  /** The ref and the commit that are checked out, and the blob; what is not known is not sent. */
  readonly ref: string | null;
  readonly treeish: string | null;
  readonly blob: string | null;
  readonly canDelay: boolean;
  /** Empty when an answer that was put off is fetched. */
  readonly content: Bytes;
}

/**
 * - `filtered`: what was pushed is the file's content;
 * - `delayed`: it will be later;
 * - `error`, `abort`: the driver says no, to this file or to all;
 * - `broken`: it said something else, or ended.
 */
export type SmudgeAnswer = 'filtered' | 'delayed' | 'error' | 'abort' | 'broken';

/** Which of the delayed paths can be fetched. */
export interface AvailableBlobs {
  readonly answer: 'listed' | 'error' | 'broken';
  /** Those that are wanted, as byte strings. */
  readonly paths: ReadonlySet<string>;
  /** The first one that was not, for the message. */
  readonly unknown: string | null;
}

export class LongRunningDriver {
  readonly capabilities: ReadonlySet<string>;
  readonly #process: DriverProcess;
  readonly #writer: PacketWriter;
  readonly #reader: PacketReader;
  readonly #settings: DriverSettings;
  readonly #command: string;

  private constructor(
    command: string,
    process: DriverProcess,
    writer: PacketWriter,
    reader: PacketReader,
    capabilities: ReadonlySet<string>,
    settings: DriverSettings,
  ) {
    this.#command = command;
    this.#process = process;
    this.#writer = writer;
    this.#reader = reader;
    this.capabilities = capabilities;
    this.#settings = settings;
  }

  /**
   * Starts the command and agrees on the protocol.
   * @returns null when it does not start or does not speak the protocol; why was told as a warning
   * @throws CheckoutError filter-failed where git dies: it ends in the middle, sends no packets, or wants what git does
   * not have; interrupted
   */
  static async start(command: string, settings: DriverSettings): Promise<LongRunningDriver | null> {
    const started = await DriverProcess.start(command, settings);
    if (started === null) return null;
    const writer = new PacketWriter(started.stdin);
    const reader = new PacketReader(started.stdout);
    const driver = (capabilities: ReadonlySet<string>): LongRunningDriver =>
      new LongRunningDriver(command, started, writer, reader, capabilities, settings);
    try {
      const capabilities = await handshake(command, writer, reader, settings);
      if (capabilities !== null) return driver(capabilities);
    } catch (error) {
      await driver(new Set()).stop();
      throw died(command, error);
    }
    await driver(new Set()).stop();
    return null;
  }

  /**
   * Has a file filtered.
   * @throws CheckoutError filter-failed where git dies; interrupted; what `push` throws, and the process is of no use then
   */
  async smudge(request: SmudgeRequest, push: (piece: Bytes) => void): Promise<SmudgeAnswer> {
    if (request.path.length > MAX_PACKET_DATA - 'pathname=\n'.length) return 'broken';
    const packets = [
      textPacket('command=smudge', NOTHING),
      textPacket('pathname=', request.path),
      ...(request.ref === null ? [] : [textPacket('ref=', Buffer.from(request.ref, 'utf8'))]),
      ...(request.treeish === null ? [] : [textPacket('treeish=', Buffer.from(request.treeish, 'latin1'))]),
      ...(request.blob === null ? [] : [textPacket('blob=', Buffer.from(request.blob, 'latin1'))]),
      ...(request.canDelay ? [textPacket('can-delay=1', NOTHING)] : []),
      flushPacket(),
    ];
    return await this.#guarded(async () => {
      if (!(await this.#writer.write(...packets))) return 'broken';
      if (!(await this.#writer.writeContent(request.content))) return 'broken';
      const before = await this.#status('');
      if (before === 'delayed' && request.canDelay) return 'delayed';
      if (before !== 'success') return answerOf(before);
      for (;;) {
        const piece = await this.#reader.read();
        if (piece === undefined) return 'broken';
        if (piece === null) break;
        push(piece);
      }
      const after = await this.#status('success');
      return after === 'success' ? 'filtered' : answerOf(after);
    });
  }

  /**
   * Asks which delayed paths are done; the driver answers when there are some, or with none when there will be none.
   * @throws as `smudge`
   */
  async availableBlobs(isWanted: (path: string) => boolean): Promise<AvailableBlobs> {
    const paths = new Set<string>();
    let unknown: string | null = null;
    const answer = await this.#guarded<AvailableBlobs['answer']>(async () => {
      if (!(await this.#writer.write(textPacket('command=list_available_blobs', NOTHING), flushPacket())))
        return 'broken';
      for (;;) {
        const line = await this.#reader.readLine();
        if (line === undefined) throw new PacketError('it ended in a list of paths');
        if (line === null) break;
        if (!line.startsWith('pathname=')) continue;
        const path = line.slice('pathname='.length);
        if (isWanted(path)) paths.add(path);
        else unknown ??= displayBytes(Buffer.from(path, 'latin1'));
      }
      const status = await this.#status('');
      if (status === 'success') return 'listed';
      return status === 'error' ? 'error' : 'broken';
    });
    return { answer, paths, unknown };
  }

  /** Ends a process that is of no more use. */
  async stop(): Promise<void> {
    this.#process.kill();
    this.#process.closePipes();
    await this.#process.ended;
  }

  /** Closes the pipes, by which the process is told that all is done, and waits until it has ended. */
  async close(): Promise<void> {
    this.#process.stdin.end();
    this.#process.stdout.destroy();
    const timer = setTimeout(() => {
      this.#settings.warn(`the filter command '${this.#command}' does not end by itself and is stopped`);
      this.#process.kill();
    }, CLOSING_MS);
    await this.#process.ended;
    clearTimeout(timer);
    this.#process.closePipes();
  }

  /** The last status of a list, or `unchanged` when it has none; null when the pipe was closed. */
  async #status(unchanged: string): Promise<string | null> {
    let status = unchanged;
    for (;;) {
      const line = await this.#reader.readLine();
      if (line === undefined) return null;
      if (line === null) return status;
      if (line.startsWith('status=')) status = line.slice('status='.length);
    }
  }

  async #guarded<T>(exchange: () => Promise<T>): Promise<T> {
    try {
      const result = await exchange();
      throwIfStopped(this.#settings);
      return result;
    } catch (error) {
      throwIfStopped(this.#settings);
      throw died(this.#command, error);
    }
  }
}

const NOTHING = new Uint8Array(0);

function answerOf(status: string | null): SmudgeAnswer {
  return status === 'error' || status === 'abort' ? status : 'broken';
}

/** What git dies of, as an error of ours; all others as they are. */
function died(command: string, error: unknown): unknown {
  if (!(error instanceof PacketError)) return error;
  return new CheckoutError('filter-failed', `the filter command '${command}' broke the protocol: ${error.message}`);
}

/** What the driver can do; null when it says nothing that makes sense. */
async function handshake(
  command: string,
  writer: PacketWriter,
  reader: PacketReader,
  settings: DriverSettings,
): Promise<ReadonlySet<string> | null> {
  const next = async (): Promise<string | null> => {
    const line = await reader.readLine();
    throwIfStopped(settings);
    if (line === undefined) throw new PacketError('it ended before it had introduced itself');
    return line;
  };
  const unexpected = (line: string | null, expected: string): null => {
    const said = line === null ? 'nothing' : `'${displayBytes(Buffer.from(line.slice(0, 200), 'latin1'))}'`;
    settings.warn(`the filter command '${command}' says ${said} instead of ${expected}`);
    return null;
  };
  const sent = await writer.write(
    textPacket('git-filter-client', NOTHING),
    textPacket('version=2', NOTHING),
    flushPacket(),
  );
  if (!sent) return unexpected(null, "'git-filter-server'");
  const welcome = await next();
  if (welcome !== 'git-filter-server') return unexpected(welcome, "'git-filter-server'");
  const version = await next();
  if (version === null || !/^version=\s*[+-]?\d+$/.test(version)) return unexpected(version, 'a version');
  const end = await next();
  if (end !== null) return unexpected(end, 'the end of its versions');
  if (Number(version.slice('version='.length)) !== 2) return unexpected(version, "'version=2'");

  const offered = CAPABILITIES.map((name) => textPacket(`capability=${name}`, NOTHING));
  if (!(await writer.write(...offered, flushPacket()))) return unexpected(null, 'capabilities');
  const capabilities = new Set<string>();
  for (;;) {
    const line = await next();
    if (line === null) return capabilities;
    if (!line.startsWith('capability=')) continue;
    const name = line.slice('capability='.length);
    if (!CAPABILITIES.includes(name)) {
      const shown = displayBytes(Buffer.from(name.slice(0, 200), 'latin1'));
      throw new PacketError(`it wants the capability '${shown}'`);
    }
    capabilities.add(name);
  }
}
