/**
 * A server's REST interface on loopback for tests, as far as a checkout without git asks for it: the repository, and the
 * archive of a ref, which it sends for to a second server, as GitHub does.
 */
import { execFileSync } from 'node:child_process';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TestCertificate } from './tls.ts';

/** Part of the address of an archive; a credential there. */
export const ARCHIVE_SECRET = 'a-secret-of-the-archive-server';

export interface RestServer {
  /** Of the REST interface; the archive server is another. */
  readonly origin: string;
  /** `<method> <path with query>` and the Authorization header, in the order in which they came to either server. */
  readonly requests: readonly { readonly line: string; readonly authorization: string | undefined }[];
  /** Called instead of sending an archive; null for sending it. */
  onArchive: ((response: ServerResponse) => void) | null;
  close(): Promise<void>;
}

async function listen(
  tls: TestCertificate | undefined,
  handler: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Server> {
  const server = tls === undefined ? createServer(handler) : createTlsServer(tls, handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

/** Serves `bare` as `owner/repo`, with `main` for its default branch, to whoever has the token; with `tls` by https. */
export async function startRestServer(bare: string, token: string, tls?: TestCertificate): Promise<RestServer> {
  const originOf = (of: Server): string =>
    `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${(of.address() as AddressInfo).port}`;
  const requests: { line: string; authorization: string | undefined }[] = [];
  const record = ({ method, url, headers }: IncomingMessage): void => {
    requests.push({ line: `${method ?? ''} ${url ?? ''}`, authorization: headers.authorization });
  };
  const archives = await listen(tls, (request, response) => {
    record(request);
    const url = new URL(request.url ?? '/', 'http://server');
    if (server.onArchive !== null) {
      server.onArchive(response);
      return;
    }
    const revision = decodeURIComponent(url.pathname.slice('/legacy.tar.gz/'.length));
    const args = ['--git-dir', bare, 'archive', '--format=tar.gz', '--prefix=owner-repo-1234/', revision];
    response.end(execFileSync('git', args, { maxBuffer: 2 ** 28 }));
  });
  const json = (response: ServerResponse, status: number, value: unknown): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  };
  const api = await listen(tls, (request, response) => {
    record(request);
    const path = request.url ?? '';
    if (request.headers.authorization !== `token ${token}`) json(response, 401, { message: 'Bad credentials' });
    else if (path === '/repos/owner/repo') json(response, 200, { default_branch: 'main' });
    else if (path.startsWith('/repos/owner/repo/tarball/')) {
      const revision = path.slice('/repos/owner/repo/tarball/'.length);
      try {
        execFileSync('git', ['--git-dir', bare, 'rev-parse', '-q', '--verify', decodeURIComponent(revision)]);
      } catch {
        json(response, 404, { message: 'Not Found' });
        return;
      }
      const location = `${originOf(archives)}/legacy.tar.gz/${revision}?token=${ARCHIVE_SECRET}`;
      response.writeHead(302, { location }).end();
    } else json(response, 404, { message: 'Not Found' });
  });
  const server: RestServer = {
    origin: originOf(api),
    requests,
    onArchive: null,
    async close() {
      for (const each of [api, archives]) {
        each.closeAllConnections();
        await new Promise((resolve) => each.close(resolve));
      }
    },
  };
  return server;
}
