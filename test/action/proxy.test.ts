// Proxies and private authorities: git's own business, but for what the environment and the message say. All runs share two
// servers and a proxy, and go on side by side.
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startHttpServer, type HttpServer } from '../support/http-server.ts';
import { startProxy, type Proxy } from '../support/proxy.ts';
import { makeCertificate, whyNoCertificate, type TestCertificate } from '../support/tls.ts';
import { git, makeFixture } from './git-fixture.ts';
import { TestRunner, type StepOptions, type StepResult } from './run-action.ts';

const missing = whyNoCertificate();
const TOKEN = 'a-token';
const PASSWORD = 'user:pass-word';

describe.skipIf(missing !== null)(
  `a server with a certificate${missing === null ? '' : ` (skipped: ${missing})`}`,
  () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'parallel-checkout-tls-')));
    const fixture = makeFixture();
    let certificate: TestCertificate;
    let secure: HttpServer;
    let plain: HttpServer;

    beforeAll(async () => {
      certificate = makeCertificate(folder);
      secure = await startHttpServer({ root: fixture.root, token: TOKEN, tls: certificate });
      plain = await startHttpServer({ root: fixture.root, token: TOKEN });
    });
    afterAll(async () => {
      await Promise.all([secure.close(), plain.close()]);
      rmSync(folder, { recursive: true, force: true });
      fixture.remove();
    });

    interface Run {
      readonly result: StepResult;
      readonly proxy: Proxy;
    }
    async function run(
      serverUrl: string,
      environment: (proxy: Proxy) => StepOptions['env'],
      prepare: (runner: TestRunner) => void = () => undefined,
    ): Promise<Run> {
      const runner = new TestRunner(serverUrl, 'owner/repo');
      const proxy = await startProxy(PASSWORD);
      try {
        prepare(runner);
        const inputs = { ref: 'refs/heads/main', token: TOKEN, 'fetch-retries': '0' };
        const result = await runner.main({ inputs, env: { ...environment(proxy) } });
        if (result.exitCode === 0) expect(git(runner.workspace, ['status', '--porcelain'])).toBe('');
        return { result, proxy };
      } finally {
        await proxy.close();
        runner.remove();
      }
    }
    const ca = (): { GIT_SSL_CAINFO: string } => ({ GIT_SSL_CAINFO: certificate.caFile });

    const withPassword = ({ origin }: Proxy, password = PASSWORD): string => origin.replace('//', `//${password}@`);

    it.concurrent('is reached through https_proxy, which sees no token', async () => {
      const { result, proxy } = await run(secure.origin, (of) => ({ https_proxy: withPassword(of), ...ca() }));
      expect(result.errors).toEqual([]);
      expect(new Set(proxy.requests)).toEqual(new Set([`CONNECT ${secure.origin.replace('https://', '')}`]));
      expect(proxy.headers.filter((header) => /^authorization$/i.test(header))).toEqual([]);
    });

    it.concurrent('without one is reached through http_proxy', async () => {
      const { result, proxy } = await run(plain.origin, (of) => ({ http_proxy: withPassword(of) }));
      expect(result.errors).toEqual([]);
      expect(proxy.requests).toContain(`GET ${plain.origin}/owner/repo/info/refs?service=git-upload-pack`);
    });

    it.concurrent('that no_proxy names is reached without', async () => {
      const dead = 'http://127.0.0.1:9';
      const env = { https_proxy: dead, HTTPS_PROXY: dead, no_proxy: 'example.org,127.0.0.1', ...ca() };
      const { result } = await run(secure.origin, () => env);
      expect(result.errors).toEqual([]);
    });

    it.concurrent('is not reached through a proxy that wants another password, which is shown nowhere', async () => {
      const environment = (of: Proxy): StepOptions['env'] => ({
        https_proxy: withPassword(of, 'user:wrong-word'),
        ...ca(),
      });
      const { result, proxy } = await run(secure.origin, environment);
      expect([result.exitCode, result.errors.length]).toEqual([1, 1]);
      expect(result.errors[0]).toMatch(/407/);
      expect(result.log + result.stderr).not.toContain('wrong-word');
      expect(proxy.requests.length).toBeGreaterThan(0);
    });

    it.concurrent('of an authority in the user’s configuration is trusted', async () => {
      const { result } = await run(
        secure.origin,
        () => ({}),
        ({ home }) => writeFileSync(join(home, '.gitconfig'), `[http]\n\tsslCAInfo = ${certificate.caFile}\n`),
      );
      expect(result.errors).toEqual([]);
    });

    it.concurrent.each([
      ['NODE_EXTRA_CA_CERTS, which git does not read', true],
      ['nobody', false],
    ])('of an authority that is known to %s is refused at once, with a hint', async (_, extra) => {
      const env = extra ? { NODE_EXTRA_CA_CERTS: certificate.caFile } : {};
      const { result } = await run(secure.origin, () => ({ ...env, INPUT_TRANSPORT: 'git' }));
      expect([result.exitCode, result.errors.length]).toEqual([1, 1]);
      expect(result.errors[0]).toMatch(/certificate.*GIT_SSL_CAINFO/);
      expect(result.errors[0]?.includes('does not read NODE_EXTRA_CA_CERTS')).toBe(extra);
    });
  },
);
