/**
 * A real `sshd` on loopback that serves git repositories for tests: host and user keys of its own, a port of its own, and
 * nothing to be run but `git upload-pack` below one directory. Of the system it needs the program only.
 */
import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const SSHD = '/usr/sbin/sshd';

function inPath(program: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.map((folder) => join(folder, program)).find((path) => existsSync(path));
}

/** Why there can be no SSH server here, or null. */
export function whyNoSshServer(): string | null {
  if (!existsSync(SSHD)) return `${SSHD} is not there (Debian: openssh-server)`;
  for (const program of ['ssh', 'ssh-keygen']) {
    if (inPath(program) === undefined) return `${program} is not there (Debian: openssh-client)`;
  }
  return null;
}

export interface SshServer {
  readonly port: number;
  /** The one user that can log in: whoever runs the tests. */
  readonly user: string;
  /** The private key that is let in. */
  readonly key: string;
  /** One that is not. */
  readonly strangersKey: string;
  /** `key` with a passphrase. */
  readonly lockedKey: string;
  /** The line of a known_hosts file. */
  readonly knownHost: string;
  /** Such a line with a key that is not the server's. */
  readonly wrongKnownHost: string;
  /** A directory with an `ssh` that goes to this server whatever the port; to be put before PATH. */
  readonly bin: string;
  /** What ssh reads in place of the user's configuration; more may be added. */
  readonly config: string;
  /** Every command that was asked for. */
  commands(): string[];
  close(): Promise<void>;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return port;
}

async function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('data', () => resolve(true)).once('error', () => resolve(false));
    socket.once('close', () => resolve(false));
    socket.once('data', () => socket.destroy());
  });
}

/** Starts a server for the repositories below `root`, as `host:owner/name.git`. */
export async function startSshServer(root: string): Promise<SshServer> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'parallel-checkout-sshd-')));
  const path = (name: string): string => join(home, name);
  const makeKey = (name: string, passphrase = ''): void => {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', passphrase, '-C', name, '-f', path(name)]);
  };
  for (const name of ['host', 'user', 'stranger']) makeKey(name);
  makeKey('locked', 'a passphrase');
  const text = (name: string): string => readFileSync(path(name), 'utf8');
  const publicKey = (name: string): string => text(`${name}.pub`).split(' ').slice(0, 2).join(' ');
  writeFileSync(path('authorized_keys'), `${publicKey('user')}\n${publicKey('locked')}\n`);

  // What a hosting server allows, as test/support/http-server.ts.
  const git = inPath('git') ?? 'git';
  const script = `#!/bin/sh
printf '%s\\n' "$SSH_ORIGINAL_COMMAND" >>'${path('commands')}'
export GIT_CONFIG_NOSYSTEM=1 HOME='${home}'
case "$SSH_ORIGINAL_COMMAND" in
*..*) ;;
"git-upload-pack '"*"'")
  repository=\${SSH_ORIGINAL_COMMAND#*\\'}
  exec '${git}' -c uploadpack.allowAnySHA1InWant=true -c uploadpack.allowFilter=true -c safe.directory='*' \\
    upload-pack "${root}/\${repository%\\'}" ;;
esac
echo 'ERROR: this server only uploads' >&2
exit 1
`;
  writeFileSync(path('serve'), script);
  chmodSync(path('serve'), 0o755);
  // The program wants this directory when it runs as root.
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true });
  const port = await freePort();
  const settings = [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${path('host')}`,
    `AuthorizedKeysFile ${path('authorized_keys')}`,
    `PidFile none`,
    'StrictModes no',
    'UsePAM no',
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    'PermitRootLogin yes',
    'AcceptEnv GIT_PROTOCOL',
    `ForceCommand ${path('serve')}`,
  ];
  writeFileSync(path('sshd_config'), `${settings.join('\n')}\n`);
  const child = spawn(SSHD, ['-D', '-e', '-f', path('sshd_config')], { stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (log = (log + chunk).slice(-4000)));
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
    child.once('error', () => resolve());
  });
  for (let attempt = 0; !(await answers(port)); attempt++) {
    if (attempt > 100 || child.exitCode !== null) throw new Error(`sshd does not start: ${log}`);
    await sleep(20);
  }

  // The address of a repository has no port, and ssh does not look for its configuration in $HOME.
  mkdirSync(path('bin'));
  writeFileSync(path('config'), `Host *\n\tPort ${port}\n`);
  writeFileSync(path('bin/ssh'), `#!/bin/sh\nexec '${inPath('ssh') ?? 'ssh'}' -F '${path('config')}' "$@"\n`);
  chmodSync(path('bin/ssh'), 0o755);
  return {
    port,
    user: userInfo().username,
    key: text('user'),
    strangersKey: text('stranger'),
    lockedKey: text('locked'),
    knownHost: `[127.0.0.1]:${port} ${publicKey('host')}`,
    wrongKnownHost: `[127.0.0.1]:${port} ${publicKey('stranger')}`,
    bin: path('bin'),
    config: path('config'),
    commands: () => (existsSync(path('commands')) ? text('commands').trimEnd().split('\n') : []),
    async close() {
      child.kill();
      await ended;
      rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    },
  };
}
