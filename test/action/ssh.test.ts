// Fetching with a key, from a real SSH server: which hosts are trusted, what is on the disk and when, that later steps can
// use the key if it persists, and how it fails.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { basename, delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readSettings } from '../../src/action/inputs.ts';
import {
  filesOfCommand,
  GITHUB_HOST_KEYS,
  icaclsArguments,
  keyFault,
  knownHostsText,
  missingTimeouts,
  normalizedKey,
  sshCommand,
} from '../../src/action/ssh.ts';
import { findGit } from '../../src/engine/engine.ts';
import { startSshServer, whyNoSshServer, type SshServer } from '../support/ssh-server.ts';
import { git, gitOnline, makeFixture, type Fixture } from './git-fixture.ts';
import { filesHolding, TestRunner, type StepOptions, type StepResult } from './run-action.ts';

const TOKEN = 'ghs_a-Secret+Token/0123456789=';
const noServer = whyNoSshServer();

describe.skipIf(noServer !== null)(`ssh-key${noServer === null ? '' : ` (skipped: ${noServer})`}`, () => {
  let fixture: Fixture;
  let server: SshServer;
  let secrets: string[];
  const runners: TestRunner[] = [];

  beforeAll(async () => {
    fixture = makeFixture();
    server = await startSshServer(fixture.root);
    const lines = [server.key, server.strangersKey].flatMap((key) => key.trim().split('\n').slice(1, -1));
    secrets = [TOKEN, Buffer.from(`x-access-token:${TOKEN}`).toString('base64'), ...lines];
  });
  afterAll(async () => {
    for (const runner of runners) runner.remove();
    await server.close();
    fixture.remove();
  });

  /** A runner whose server is 127.0.0.1, by HTTP at a port that nobody listens at. */
  function newRunner(): TestRunner {
    const runner = new TestRunner('http://127.0.0.1:9', 'owner/repo');
    runners.push(runner);
    return runner;
  }

  function options(
    runner: TestRunner,
    inputs: Readonly<Record<string, string>>,
    env: StepOptions['env'] = {},
  ): StepOptions {
    return {
      inputs: {
        token: TOKEN,
        ref: 'main',
        'ssh-key': server.key,
        'ssh-user': server.user,
        'ssh-known-hosts': server.knownHost,
        ...inputs,
      },
      env: { PATH: `${server.bin}${delimiter}${runner.environment['PATH'] ?? ''}`, ...env },
    };
  }

  function expectNoSecretShown(result: StepResult): void {
    const shown = JSON.stringify({ ...result, masks: [], commands: [] });
    const { report } = result.outputs;
    const all = shown + (report === undefined ? '' : readFileSync(report, 'utf8'));
    for (const secret of secrets) expect(all).not.toContain(secret);
  }

  /** What is not for the user to find, such as the report. */
  function leftIn(temp: string): string[] {
    return readdirSync(temp).filter((name) => /[0-9a-f]{8}-[0-9a-f]{4}-/.test(name) && !name.includes('-report-'));
  }

  it('fetches with it, keeps it for later steps, and the post phase removes every trace', async () => {
    const runner = newRunner();
    const temp = join(runner.root, 'a temp $dir');
    mkdirSync(temp);
    const given = options(runner, { ref: '', 'ssh-key': server.key.replaceAll('\n', '\r\n').trim() });
    const env = { ...given.env, RUNNER_TEMP: temp, GITHUB_REPOSITORY: 'owner/other' };
    const before = server.commands().length;
    const result = await runner.main({ inputs: { ...given.inputs, repository: 'owner/repo' }, env });
    expect(result.errors).toEqual([]);
    expect(result.outputs).toMatchObject({ ref: 'refs/heads/main', commit: fixture.commits.main });
    expect(server.commands().slice(before)).toEqual(Array(2).fill("git-upload-pack 'owner/repo.git'"));
    expect(readFileSync(join(runner.workspace, 'README.md'), 'utf8')).toBe('main\n');
    expect(git(runner.workspace, ['config', 'remote.origin.url'])).toBe(`${server.user}@127.0.0.1:owner/repo.git`);
    expectNoSecretShown(result);
    expect(result.masks).toEqual(expect.arrayContaining(server.key.trim().split('\n').slice(1, -1)));

    const { sshKeyPath: keyPath = '', sshKnownHostsPath: knownHostsPath = '' } = result.state;
    expect(knownHostsPath).toBe(`${keyPath}_known_hosts`);
    expect(basename(keyPath)).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(readFileSync(keyPath, 'utf8')).toBe(server.key);
    expect([keyPath, knownHostsPath].map((path) => statSync(path).mode & 0o777)).toEqual([0o600, 0o600]);
    expect(readFileSync(knownHostsPath, 'utf8').split('\n')[0]).toBe(server.knownHost);
    const command = git(runner.workspace, ['config', '--local', 'core.sshCommand']);
    expect(command).toContain(
      `ssh" -i "$RUNNER_TEMP/${basename(keyPath)}" -o BatchMode=yes -o StrictHostKeyChecking=yes -o CheckHostIP=no`,
    );
    // The token is there too, for what is not fetched over SSH.
    expect(readFileSync(result.state['credentialsPath']!, 'utf8')).toContain('http://127.0.0.1:9/');

    const later = { ...runner.environment, RUNNER_TEMP: temp };
    await gitOnline(runner.workspace, ['fetch', '-q', 'origin', 'feature/x'], later);
    expect(git(runner.workspace, ['rev-parse', 'FETCH_HEAD'])).toBe(fixture.commits.feature);

    // A job that was killed has no post phase: the next one removes its key.
    const second = await runner.main({ inputs: { ...given.inputs, repository: 'owner/repo' }, env });
    expect(second.errors).toEqual([]);
    expect(second.warnings).toEqual([]);
    expect([keyPath, knownHostsPath].filter((path) => existsSync(path))).toEqual([]);
    expect(git(runner.workspace, ['config', '--get-all', 'core.sshCommand'])).toContain(
      basename(second.state['sshKeyPath']!),
    );

    const post = await runner.post(second, { env: { PATH: '/nonexistent', RUNNER_TEMP: temp } });
    expect([post.exitCode, post.warnings]).toEqual([0, []]);
    expect(leftIn(temp)).toEqual([]);
    expect(filesHolding(runner.root, secrets)).toEqual([]);
    expect(readFileSync(join(runner.workspace, '.git', 'config'), 'utf8')).not.toMatch(/sshCommand|includeIf/);
  });

  it('is gone at the end of the step with persist-credentials: false; hosts of the user are known', async () => {
    const runner = newRunner();
    mkdirSync(join(runner.home, '.ssh'));
    writeFileSync(join(runner.home, '.ssh', 'known_hosts'), `# without a line feed at its end\r\n${server.knownHost}`);
    const inputs = { 'ssh-known-hosts': 'example.com ssh-ed25519 AAAA', 'persist-credentials': 'false' };
    const result = await runner.main(options(runner, inputs));
    expect(result.errors).toEqual([]);
    expect(result.outputs).toMatchObject({ ref: 'main', commit: fixture.commits.main });
    expect(existsSync(result.state['sshKeyPath']!)).toBe(false);
    expect(leftIn(runner.temp)).toEqual([]);
    expect(filesHolding(runner.root, secrets)).toEqual([]);
    expect(readFileSync(join(runner.workspace, '.git', 'config'), 'utf8')).not.toMatch(/sshCommand|includeIf/);
    expectNoSecretShown(result);
  });

  /** A PATH whose ssh has this configuration. */
  function pathWithSsh(runner: TestRunner, settings: string): string {
    const bin = join(runner.root, 'bin');
    mkdirSync(bin);
    const ssh = readFileSync(join(server.bin, 'ssh'), 'utf8');
    writeFileSync(join(bin, 'config'), `Host *\n\t${settings}\n`);
    writeFileSync(join(bin, 'ssh'), ssh.replace(server.config, join(bin, 'config')), { mode: 0o755 });
    return `${bin}${delimiter}${process.env['PATH'] ?? ''}`;
  }

  it('takes any host with ssh-strict: false if that is how ssh is configured, and none with true', async () => {
    const runner = newRunner();
    const PATH = pathWithSsh(runner, `Port ${server.port}\n\tStrictHostKeyChecking no`);
    const inputs = { 'ssh-known-hosts': '', 'fetch-depth': '0' };
    const strict = await runner.main(options(runner, inputs, { PATH }));
    expect(strict.errors).toEqual([expect.stringMatching(/No ED25519 host key is known/)]);
    const result = await runner.main(options(runner, { ...inputs, 'ssh-strict': 'false' }, { PATH }));
    expect(result.errors).toEqual([]);
    expect(result.outputs['commit']).toBe(fixture.commits.main);
    await runner.post(strict);
    await runner.post(result);
    expect(filesHolding(runner.root, secrets)).toEqual([]);
  });

  describe('fails with one line that says what to do', () => {
    let silent: Server;
    beforeAll(async () => {
      silent = createServer((socket) => socket.resume().on('error', () => undefined));
      await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    });
    afterAll(() => new Promise((resolve) => silent.close(resolve)));

    type Case = readonly [
      name: string,
      inputs: () => Readonly<Record<string, string>>,
      message: RegExp,
      programs: 'git alone' | 'nothing' | null,
    ];
    const cases: readonly Case[] = [
      [
        'an unknown host',
        () => ({ 'ssh-known-hosts': '' }),
        /No ED25519 host key is known for .*; .*'ssh-known-hosts'/,
        null,
      ],
      [
        'a host with another key',
        () => ({ 'ssh-known-hosts': server.wrongKnownHost }),
        /Host key for .* has changed.*; .*'ssh-known-hosts'/,
        null,
      ],
      [
        'a key that is not let in',
        () => ({ 'ssh-key': server.strangersKey }),
        /Permission denied \(publickey\).*; the server does not accept the key/,
        null,
      ],
      [
        'the same, when the default branch is asked for',
        () => ({ 'ssh-key': server.strangersKey, ref: '', repository: 'owner/other' }),
        /default branch.*Permission denied/,
        null,
      ],
      [
        'an unknown host and ssh-strict: false, which is left to ssh',
        () => ({ 'ssh-known-hosts': '', 'ssh-strict': 'false' }),
        /Host key verification failed.*; .*'ssh-known-hosts'/,
        null,
      ],
      [
        'a repository that is not there',
        () => ({ repository: 'owner/missing' }),
        /does not appear to be a git repository/,
        null,
      ],
      [
        'a key with a passphrase',
        () => ({ 'ssh-key': server.lockedKey }),
        /input 'ssh-key' is protected by a passphrase/,
        null,
      ],
      [
        'a key whose content is no key',
        () => ({ 'ssh-key': damaged(server.key) }),
        /Load key .*; the private key in 'ssh-key' cannot be read/,
        null,
      ],
      ['no ssh', () => ({}), /input 'ssh-key' needs ssh, which is not installed/, 'git alone'],
      ['no ssh and no git', () => ({}), /git is not in PATH, and input 'ssh-key' needs it/, 'nothing'],
    ];
    /** A folder for PATH, below the runner's home. */
    function folderWith(runner: TestRunner, programs: 'git alone' | 'nothing'): string {
      const folder = join(runner.home, 'bin');
      mkdirSync(folder);
      if (programs === 'git alone') symlinkSync(findGit(process.env, process.platform)!, join(folder, 'git'));
      return folder;
    }
    function damaged(key: string): string {
      const lines = key.split('\n');
      return [...lines.slice(0, 2), ...lines.slice(3)].join('\n');
    }

    it.concurrent.each(cases)('%s', async (_, inputs, message, programs) => {
      const runner = newRunner();
      const env = programs === null ? {} : { PATH: folderWith(runner, programs) };
      const result = await runner.main(options(runner, inputs(), env));
      expect(result.exitCode).toBe(1);
      expect(result.errors).toEqual([expect.stringMatching(message)]);
      expectNoSecretShown(result);
      await runner.post(result);
      expect(filesHolding(runner.root, secrets)).toEqual([]);
    });

    it.concurrent('a server that says nothing, after the time that the user has set', async () => {
      const runner = newRunner();
      const { port } = silent.address() as AddressInfo;
      const PATH = pathWithSsh(runner, `Port ${port}\n\tConnectTimeout 1`);
      const result = await runner.main(options(runner, {}, { PATH }));
      expect(result.errors).toEqual([
        expect.stringMatching(/Connection (timed out during banner exchange|to .* timed out)/),
      ]);
    });
  });
});

describe('what ssh is given', () => {
  const files = {
    keyPath: '/t/5e1f0f0a-0000-4000-8000-000000000000',
    knownHostsPath: '/t/5e1f0f0a-0000-4000-8000-000000000000_known_hosts',
  };

  it('is a command that a shell takes apart as meant', () => {
    const command = sshCommand('/with $quote"/ssh', files, true, [['ConnectTimeout', 30]]);
    const script = `set -- ${command}; printf '%s\\n' "$@"`;
    const lines = execFileSync('sh', ['-c', script], { encoding: 'utf8', env: { RUNNER_TEMP: '/a b' } }).split('\n');
    expect(lines).toEqual([
      '/with $quote"/ssh',
      '-i',
      '/a b/5e1f0f0a-0000-4000-8000-000000000000',
      '-o',
      'BatchMode=yes',
      '-o',
      'StrictHostKeyChecking=yes',
      '-o',
      'CheckHostIP=no',
      '-o',
      'UserKnownHostsFile="/a b/5e1f0f0a-0000-4000-8000-000000000000_known_hosts"',
      '-o',
      'ConnectTimeout=30',
      '',
    ]);
    expect(sshCommand('/ssh', files, false, [])).not.toMatch(/Strict|CheckHostIP/);
  });

  it('is recognised later, and so is that of actions/checkout', () => {
    const names = ['5e1f0f0a-0000-4000-8000-000000000000', '5e1f0f0a-0000-4000-8000-000000000000_known_hosts'];
    expect(filesOfCommand(sshCommand('/usr/bin/ssh', files, true, []))).toEqual(names);
    const theirs = `"/usr/bin/ssh" -i "$RUNNER_TEMP/${names[0]!}" -o StrictHostKeyChecking=yes -o CheckHostIP=no -o "UserKnownHostsFile=$RUNNER_TEMP/${names[1]!}"`;
    expect(filesOfCommand(theirs)).toEqual(names);
    expect(filesOfCommand('ssh -i "$RUNNER_TEMP/../key"')).toEqual([]);
    expect(filesOfCommand('ssh -i /home/me/key')).toEqual([]);
  });

  it('has time limits unless the user has set some', () => {
    expect(missingTimeouts('')).toEqual([
      ['ConnectTimeout', 30],
      ['ServerAliveInterval', 15],
    ]);
    expect(missingTimeouts('connecttimeout none\nserveraliveinterval 0\n').length).toBe(2);
    expect(missingTimeouts('user x\nconnecttimeout 7\nserveraliveinterval 60\n')).toEqual([]);
  });

  it('knows github.com by the keys that GitHub publishes', () => {
    const fingerprints = GITHUB_HOST_KEYS.map((key) => {
      const [type, blob = ''] = key.split(' ');
      const hash = createHash('sha256').update(Buffer.from(blob, 'base64')).digest('base64').replace(/=+$/, '');
      return `${type ?? ''} ${hash}`;
    });
    expect(fingerprints).toEqual([
      'ssh-ed25519 +DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU',
      'ecdsa-sha2-nistp256 p2QAMXNIC1TJYWeIOttrVc98/R1BUFWu3/LiyKgUfQM',
      'ssh-rsa uNiVztksCsDhcc0u9e8BujQXVUpKZIDTMczCvj3tD2s',
    ]);
    const lines = knownHostsText('of-user', 'of-input\r\n').split('\n');
    expect(lines.slice(0, 2)).toEqual(['of-user', 'of-input']);
    expect(lines.slice(2)).toEqual([...GITHUB_HOST_KEYS.map((key) => `github.com ${key}`), '']);
  });

  it('is the user alone on Windows', () => {
    expect(icaclsArguments('C:\\t\\key', { USERDOMAIN: 'HOST', USERNAME: 'me' })).toEqual([
      'C:\\t\\key',
      '/inheritance:r',
      '/grant:r',
      'HOST\\me:F',
    ]);
  });
});

describe('a key that ssh cannot use', () => {
  const pem = (label: string, body: string): string => `-----BEGIN ${label}-----\n${body}\n-----END ${label}-----\n`;
  const openssh = (cipher: string): string => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(cipher.length);
    const bytes = Buffer.concat([Buffer.from('openssh-key-v1\0'), length, Buffer.from(cipher), Buffer.alloc(90)]);
    return pem('OPENSSH PRIVATE KEY', bytes.toString('base64').replace(/.{70}/g, '$&\n'));
  };
  const cases: readonly (readonly [string, string, RegExp | null])[] = [
    ['OpenSSH', openssh('none'), null],
    ['RSA', pem('RSA PRIVATE KEY', 'MIIE'), null],
    ['EC', pem('EC PRIVATE KEY', 'MIIE'), null],
    ['PKCS #8', pem('PRIVATE KEY', 'MIIE'), null],
    ['text before it', `a comment\n${pem('RSA PRIVATE KEY', 'MIIE')}`, null],
    ['OpenSSH with a passphrase', openssh('aes256-ctr'), /passphrase/],
    ['RSA with a passphrase', pem('RSA PRIVATE KEY', 'Proc-Type: 4,ENCRYPTED\nDEK-Info: AES\n\nMIIE'), /passphrase/],
    ['PKCS #8 with a passphrase', pem('ENCRYPTED PRIVATE KEY', 'MIIE'), /passphrase/],
    ['a public key', 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5 me@here\n', /public key/],
    ['a key of PuTTY', 'PuTTY-User-Key-File-3: ssh-ed25519\n', /puttygen/],
    ['its path', '~/.ssh/id_ed25519\n', /not a private key/],
    ['lost line breaks', pem('RSA PRIVATE KEY', 'MIIE').replaceAll('\n', ' '), /line break/],
    ['half of it', openssh('none').slice(0, 90), /cut off/],
    ['other bytes', pem('OPENSSH PRIVATE KEY', 'AAAA'), /damaged/],
    [
      'a length that lies',
      pem('OPENSSH PRIVATE KEY', Buffer.from('openssh-key-v1\0\xff\xff\xff\xffno', 'latin1').toString('base64')),
      /passphrase/,
    ],
  ];
  it.each(cases)('%s', (_, key, fault) => {
    const found = keyFault(normalizedKey(key.replaceAll('\n', '\r\n')));
    if (fault === null) expect(found).toBeNull();
    else expect(found).toMatch(fault);
    expect(found ?? '').not.toContain('MIIE');
  });
});

describe('the inputs', () => {
  const runner = new TestRunner('https://ghes.example.com:8443', 'Owner/a repo');
  afterAll(() => runner.remove());
  const read = (inputs: Readonly<Record<string, string>>): ReturnType<typeof readSettings> => {
    const given = Object.entries({ token: 't', ref: 'main', ...inputs });
    const named = given.map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value]);
    return readSettings({ ...runner.environment, ...(Object.fromEntries(named) as Record<string, string>) }, {});
  };
  const key = '-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----';

  it('make the address: the user git, no port, .git at its end', () => {
    const settings = read({ 'ssh-key': key });
    expect(settings.url).toBe('git@ghes.example.com:Owner/a%20repo.git');
    expect(settings.ssh).toEqual({ key: `${key}\n`, user: 'git', strict: true, knownHosts: '' });
    expect(read({ 'ssh-key': key, 'ssh-user': 'me', 'github-server-url': 'http://[::1]:80/' }).url).toBe(
      'me@[::1]:Owner/a%20repo.git',
    );
    expect(read({ 'ssh-key': key, 'ssh-strict': '' }).ssh?.strict).toBe(true);
    expect(read({ 'ssh-key': key, 'ssh-strict': 'False' }).ssh?.strict).toBe(false);
  });

  it('say nothing without a key', () => {
    const settings = read({ 'ssh-known-hosts': 'x', 'ssh-strict': 'false', 'ssh-user': 'a b' });
    expect([settings.ssh, settings.url]).toEqual([null, 'https://ghes.example.com:8443/Owner/a%20repo']);
  });

  it.each(['-oProxyCommand=x', 'a b', 'a:b', 'a/b', 'a@b'])('refuse the user %s', (user) => {
    expect(() => read({ 'ssh-key': key, 'ssh-user': user })).toThrow(/'ssh-user'/);
  });
});
