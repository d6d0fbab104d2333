/**
 * The same as runOurs, but with the objects on a server: they are fetched by the stream at depth 1, and written while they come.
 */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { checkout, spawnGit } from '../../src/engine/engine.ts';
import { StreamOrGit } from '../../src/engine/run/fetch-route.ts';
import type { CheckoutRequest, EnginePorts, FetchOutcome } from '../../src/engine/settings.ts';
import { type HttpServer, startHttpServer } from './http-server.ts';
import { ROOMY_HOST, type OurRun, type RunOptions } from './ours.ts';

let server: Promise<HttpServer> | null = null;

/** A server of this process for every repository of the machine; goes when the process does. */
async function everyRepository(): Promise<HttpServer> {
  server ??= startHttpServer({ root: '/', lasting: false });
  return await server;
}

export interface StreamedRun extends OurRun {
  readonly outcome: FetchOutcome;
}

/**
 * Takes the objects out of a repository, fetches the commit again, and checks it out.
 * @param source git directory of the repository that has the objects
 */
export async function runStreamed(source: string, commit: string, options: RunOptions): Promise<StreamedRun> {
  const objects = join(options.directory, '.git', 'objects');
  for (const name of readdirSync(objects)) rmSync(join(objects, name), { recursive: true, force: true });
  const infos: string[] = [];
  const warnings: string[] = [];
  const ports: EnginePorts = {
    git: spawnGit,
    observer: { info: (line) => infos.push(line), warning: (line) => warnings.push(line), progress: () => undefined },
  };
  const config = { ...options.config, 'checkout.thresholdForParallelism': '0' };
  const overrides = Object.entries(config).map(([key, value]) => ({ key, value }));
  const request: CheckoutRequest = {
    directory: options.directory,
    target: { kind: 'detach', revision: commit },
    workers: options.workers ?? 2,
    memoryLimitBytes: 'auto',
    engine: 'auto',
    transport: 'stream',
    hostFacts: ROOMY_HOST,
    config: overrides,
    ...options.request,
  };
  let started = 0;
  const count = (): void => {
    started++;
  };
  process.on('worker', count);
  const { origin } = await everyRepository();
  const route = new StreamOrGit(ports, overrides);
  try {
    const outcome = await route.fetch({
      directory: options.directory,
      remote: `${origin}${source}`,
      refspecs: [commit],
      depth: 1,
      tags: false,
      prune: false,
      progress: false,
      transport: 'stream',
      ahead: request,
    });
    const report = await checkout(request, ports, outcome);
    return { report, started, infos, warnings, outcome };
  } finally {
    route.close();
    process.off('worker', count);
  }
}
