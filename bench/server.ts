/**
 * A smart HTTP server for the cases that fetch: `git http-backend`, with its answers kept. The first time that a
 * request comes, git answers it and the answer is stored; from then on it is replayed from disk. So after the warm-up only
 * the client is measured: a real server makes its packs on another machine.
 *
 * Runs as a process of its own (node bench/server.ts FOLDER), serves FOLDER/repositories/NAME.git as /bench/NAME or
 * /bench/NAME.git, prints its port, and ends when its standard input closes.
 */
import { createHash, randomUUID } from 'node:crypto';
import { spawn, type ChildProcess } from 'node:child_process';
import { createReadStream, createWriteStream, mkdirSync, rmSync, symlinkSync, renameSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { gunzipSync } from 'node:zlib';
import { gitEnvironment } from './process.ts';

/** A running server. */
export interface BenchServer {
  /** Without a slash at its end. A repository is at `${url}/bench/NAME`. */
  url: string;
  close: () => Promise<void>;
}

/** Starts a server process for bare repositories, by name. `folder` is made for its links and answers, and emptied first. */
export async function startServer(repositories: Record<string, string>, folder: string): Promise<BenchServer> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, 'repositories', 'bench'), { recursive: true });
  for (const [name, path] of Object.entries(repositories)) {
    symlinkSync(path, join(folder, 'repositories', 'bench', `${name}.git`));
  }
  const child = spawn(process.execPath, [import.meta.filename, folder], { stdio: ['pipe', 'pipe', 'inherit'] });
  const port = await firstLine(child);
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        child.on('close', () => {
          rmSync(folder, { recursive: true, force: true });
          resolve();
        });
        child.stdin.end();
      }),
  };
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.on('error', reject);
    child.on('close', () => reject(new Error('the HTTP server of the benchmark did not start')));
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes('\n')) resolve(text.trim());
    });
  });
}

/** An answer that was given before: status and headers in memory, body in a file. */
interface Answer {
  status: number;
  headers: [string, string][];
  file: string;
}

function serve(folder: string): void {
  const projects = join(folder, 'repositories');
  const answers = join(folder, 'answers');
  mkdirSync(answers, { recursive: true });
  const known = new Map<string, Promise<Answer>>();

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    let body = Buffer.concat(chunks);
    if (request.headers['content-encoding'] === 'gzip') body = gunzipSync(body);
    const url = new URL(request.url ?? '/', 'http://localhost');
    const path = /^(\/bench\/[\w.-]+?)(?:\.git)?(\/(?:info\/refs|git-upload-pack))$/.exec(url.pathname);
    if (path === null) {
      response.writeHead(404).end();
      return;
    }
    const cgi = {
      REQUEST_METHOD: request.method ?? 'GET',
      PATH_INFO: `${path[1]!}.git${path[2]!}`,
      QUERY_STRING: url.search.slice(1),
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
    };
    const key = createHash('sha256').update(JSON.stringify(cgi)).update(body).digest('hex');
    let answer = known.get(key);
    if (answer === undefined) {
      answer = askGit(projects, cgi, body, answers);
      known.set(key, answer);
    }
    const { status, headers, file } = await answer;
    response.writeHead(status, headers.flat());
    // Large pieces, so that the server takes little of the cores that the client is measured on.
    await pipeline(createReadStream(file, { highWaterMark: 1 << 20 }), response);
  };

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      // A client may hang up early; anything else has to be seen.
      if (!response.headersSent) response.writeHead(500);
      response.destroy();
      if (!request.destroyed) console.error(`bench server: ${String(error)}`);
    });
  });
  server.listen(0, '127.0.0.1', () => {
    console.log((server.address() as AddressInfo).port);
  });
  process.stdin.resume().on('end', () => {
    server.close();
    server.closeAllConnections();
  });
}

/** Has `git http-backend` (a CGI program) answer a request, and stores the answer. */
async function askGit(projects: string, cgi: Record<string, string>, body: Buffer, answers: string): Promise<Answer> {
  const child = spawn('git', ['http-backend'], {
    env: {
      ...gitEnvironment(),
      ...cgi,
      CONTENT_LENGTH: String(body.length),
      GIT_PROJECT_ROOT: projects,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_PROTOCOL: cgi['HTTP_GIT_PROTOCOL'],
      REMOTE_ADDR: '127.0.0.1',
      // What GitHub's servers allow.
      GIT_CONFIG_COUNT: '3',
      GIT_CONFIG_KEY_0: 'uploadpack.allowAnySHA1InWant',
      GIT_CONFIG_VALUE_0: 'true',
      GIT_CONFIG_KEY_1: 'uploadpack.allowFilter',
      GIT_CONFIG_VALUE_1: 'true',
      GIT_CONFIG_KEY_2: 'safe.directory',
      GIT_CONFIG_VALUE_2: '*',
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.on('error', () => undefined);
  child.stdin.end(body);
  const file = join(answers, randomUUID());
  const output = createWriteStream(`${file}.partial`);
  let head = Buffer.alloc(0);
  let answer: Answer | undefined;
  for await (const piece of child.stdout) {
    let rest = piece as Buffer;
    if (answer === undefined) {
      head = Buffer.concat([head, rest]);
      const end = head.indexOf('\r\n\r\n');
      if (end < 0) continue;
      answer = parseHead(head.toString('latin1', 0, end), file);
      rest = head.subarray(end + 4);
    }
    if (!output.write(rest)) await new Promise<void>((resolve) => output.once('drain', resolve));
  }
  await new Promise<void>((resolve) => output.end(resolve));
  if (answer === undefined) throw new Error('git http-backend gave no answer');
  renameSync(`${file}.partial`, file);
  return answer;
}

function parseHead(head: string, file: string): Answer {
  const answer: Answer = { status: 200, headers: [], file };
  for (const line of head.split('\r\n')) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon);
    const value = line.slice(colon + 1).trim();
    if (name.toLowerCase() === 'status') answer.status = Number.parseInt(value, 10);
    else answer.headers.push([name, value]);
  }
  return answer;
}

if (import.meta.main) {
  const [folder] = process.argv.slice(2);
  if (folder === undefined) throw new Error('usage: node bench/server.ts FOLDER');
  serve(folder);
}
