/**
 * A Git LFS server for tests: the batch API with the basic transfer, for downloads. It is a handler of the HTTP server on loopback,
 * which asks for the token, records the requests and can be told to fail. Format: git-lfs, docs/api/batch.md.
 */
import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Handler } from './http-server.ts';

const MEDIA_TYPE = 'application/vnd.git-lfs+json';

/** The SHA-256 by which Git LFS names content. */
export function lfsOid(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** The pointer that stands in the repository for content. */
export function lfsPointer(content: Uint8Array): string {
  return `version https://git-lfs.github.com/spec/v1\noid sha256:${lfsOid(content)}\nsize ${content.length}\n`;
}

export interface LfsServer {
  readonly handler: Handler;
  /** Ids of each batch request, in its order. */
  readonly batches: (readonly string[])[];
  /** Ids of the objects that were downloaded. */
  readonly downloads: string[];
  /** Adds content, and returns its pointer. */
  add(content: Uint8Array): string;
  /** What the batch answers for an object instead of where to get it. */
  refuse(oid: string, code: number, message: string): void;
  /** Sends this instead of an object's content. */
  spoil(oid: string, content: Uint8Array): void;
  /** Forgets requests, refusals and spoilt content. */
  reset(): void;
}

interface BatchRequest {
  readonly operation: string;
  readonly objects: readonly { readonly oid: string; readonly size: number }[];
}

/** An LFS server with nothing in it. */
export function createLfsServer(): LfsServer {
  const contents = new Map<string, Uint8Array>();
  const refusals = new Map<string, { readonly code: number; readonly message: string }>();
  const spoilt = new Map<string, Uint8Array>();
  const batches: (readonly string[])[] = [];
  const downloads: string[] = [];

  const answer = (response: ServerResponse, status: number, value: unknown): void => {
    response.writeHead(status, { 'Content-Type': MEDIA_TYPE });
    response.end(JSON.stringify(value));
  };
  const batch = (origin: string, body: string, response: ServerResponse): void => {
    const { operation, objects } = JSON.parse(body) as BatchRequest;
    batches.push(objects.map(({ oid }) => oid));
    if (operation !== 'download') {
      answer(response, 403, { message: 'this server is for downloads' });
      return;
    }
    answer(response, 200, {
      transfer: 'basic',
      objects: objects.map(({ oid, size }) => {
        const error =
          refusals.get(oid) ?? (contents.has(oid) ? undefined : { code: 404, message: 'Object does not exist' });
        return error === undefined
          ? { oid, size, actions: { download: { href: `${origin}/lfs-objects/${oid}` } } }
          : { oid, size, error };
      }),
    });
  };
  const handler: Handler = (request: IncomingMessage, response: ServerResponse, path: string): boolean => {
    if (request.method === 'POST' && /\/info\/lfs\/objects\/batch$/.test(path)) {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        batch(`http://${request.headers.host ?? ''}`, Buffer.concat(chunks).toString('utf8'), response);
      });
      return true;
    }
    const oid = /^\/lfs-objects\/([0-9a-f]{64})$/.exec(path)?.[1];
    if (request.method !== 'GET' || oid === undefined) return false;
    const content = spoilt.get(oid) ?? contents.get(oid);
    if (content === undefined) {
      answer(response, 404, { message: 'no such object' });
      return true;
    }
    downloads.push(oid);
    response.writeHead(200, { 'Content-Type': 'application/octet-stream', 'Content-Length': content.length });
    response.end(content);
    return true;
  };
  return {
    handler,
    batches,
    downloads,
    add(content) {
      contents.set(lfsOid(content), content);
      return lfsPointer(content);
    },
    refuse: (oid, code, message) => void refusals.set(oid, { code, message }),
    spoil: (oid, content) => void spoilt.set(oid, content),
    reset() {
      batches.length = 0;
      downloads.length = 0;
      refusals.clear();
      spoilt.clear();
    },
  };
}
