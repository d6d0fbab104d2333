/**
 * An HTTP proxy on loopback for tests: tunnels (CONNECT, for https) and requests with whole addresses (for http), with or
 * without a password.
 */
import { createServer, request as httpRequest } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';

export interface Proxy {
  /** Such as `http://127.0.0.1:40321`, without the password. */
  readonly origin: string;
  /** `CONNECT host:port` or `GET http://host:port/path`, in the order in which they came. */
  readonly requests: readonly string[];
  /** Every header of every request, since none may hold what is for the server behind. */
  readonly headers: readonly string[];
  close(): Promise<void>;
}

/** Starts one. With `credentials` (`user:password`) others are answered with 407. */
export async function startProxy(credentials?: string): Promise<Proxy> {
  const requests: string[] = [];
  const headers: string[] = [];
  const sockets = new Set<Socket>();
  const expected = credentials === undefined ? null : `Basic ${Buffer.from(credentials).toString('base64')}`;
  const server = createServer((request, response) => {
    requests.push(`${request.method ?? ''} ${request.url ?? ''}`);
    headers.push(...request.rawHeaders);
    if (expected !== null && request.headers['proxy-authorization'] !== expected) {
      response.writeHead(407, { 'Proxy-Authenticate': 'Basic realm="proxy"' }).end();
      return;
    }
    const onward = httpRequest(request.url ?? '', { method: request.method, headers: request.headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  });
  server.on('connect', (request, client: Socket, head) => {
    requests.push(`CONNECT ${request.url ?? ''}`);
    headers.push(...request.rawHeaders);
    if (expected !== null && request.headers['proxy-authorization'] !== expected) {
      // A client that takes the connection for open would ask again on it, and nobody reads it any more.
      const answer = ['HTTP/1.1 407 Proxy Authentication Required', 'Proxy-Authenticate: Basic realm="proxy"'];
      client.end([...answer, 'Connection: close', 'Content-Length: 0', '', ''].join('\r\n'));
      return;
    }
    const [host = '', port = ''] = (request.url ?? '').split(':');
    const onward = connect(Number(port), host, () => {
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      onward.write(head);
      onward.pipe(client).pipe(onward);
    });
    for (const socket of [client, onward]) {
      sockets.add(socket);
      socket
        .on('error', () => undefined)
        .on('close', () => {
          sockets.delete(socket);
          client.destroy();
          onward.destroy();
        });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    headers,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
