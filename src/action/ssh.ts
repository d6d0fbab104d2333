/**
 * The `ssh-key` input: the key and the hosts that it may be shown to, as files that ssh reads while the step works, and
 * longer if they persist; and the command that makes git use them. ssh takes a key from a file or an agent only, so it is on the
 * disk for as long as it is used. docs/decisions/ssh.md.
 */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join, posix, win32 } from 'node:path';
import { promisify } from 'node:util';
import { CheckoutError, errnoOf, ioError } from '../engine/errors.ts';

/** What the inputs say about SSH. */
export interface SshSettings {
  /** A private key as a file has it, with a line feed at its end. */
  readonly key: string;
  readonly user: string;
  /** Hosts whose key is not known are refused; otherwise ssh's own configuration decides. */
  readonly strict: boolean;
  /** Lines of a known_hosts file. */
  readonly knownHosts: string;
}

/** Where the files of one step lie. */
export interface SshFiles {
  readonly keyPath: string;
  readonly knownHostsPath: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The host keys of github.com that GitHub publishes ("GitHub's SSH key fingerprints" in its documentation, and ssh_keys of
 * https://api.github.com/meta). A test holds them against the fingerprints from there.
 */
export const GITHUB_HOST_KEYS = [
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl',
  'ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBEmKSENjQEezOmxkZMy7opKgwFB9nkt5YRrYMjNuG5N87uRgg6CLrbo5wAdT/y6v0mKV0U2w0WZ2YB/++Tpockg=',
  'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQCj7ndNxQowgcQnjshcLrqPEiiphnt+VTTvDP6mHBL9j1aNUkY4Ue1gvwnGLVlOhGeYrnZaMgRK6+PKCUXaDbC7qtbW8gIkhL7aGCsOr/C56SJMy/BCZfxd1nWzAOxSDPgVsmerOBYfNqltV9/hWCqBywINIR+5dIg6JTJ72pcEpEjcYgXkE2YEFXV1JHnsKgbLWNlhScqb2UmyRkQyytRLtL+38TGxkxCflmO+5Z8CSSNY7GidjMIZ7Q4zMjA2n1nGrlTDkzwDCsw+wqFPGQA179cnfGWOWRVruj16z6XyvxvjJwbz0wQZ75XK5tKSb7FNyeIEs4TT4jk+S4dhPeAUC5y+bDYirYgM4GC7uEnztnZyaVWQ7B381AK4Qdrwt51ZqExKbQpTUNn+EjqoTwvqNj4kqx5QUCI0ThS/YkOxJCXmPUWZbhjpCg56i+2aB6CmK2JGhn57K5mj0MNdBXA4/WnwH6XoPWJzK5Nyu2zB3nAZp+S5hpQs+p1vN1/wsjk=',
];

/** ssh waits for a connection for as long as the system does, two minutes and more, and for a dead server for ever. */
const CONNECT_TIMEOUT_SECONDS = 30;
/** Three unanswered questions end the connection (ServerAliveCountMax). */
const ALIVE_INTERVAL_SECONDS = 15;

/** `ssh -G` reads two files; one that runs programs (`Match exec`) and hangs must not hang us. */
const CONFIGURATION_TIMEOUT_MS = 10_000;

/** A key as its file must be: ssh insists on the line feed at the end and does not take CRLF. */
export function normalizedKey(text: string): string {
  return `${text.replace(/\r\n?/g, '\n').trim()}\n`;
}

/**
 * Why ssh cannot use this private key, to be put behind "input 'ssh-key' ", or null. Only what is certain is found here;
 * ssh itself says only that permission was denied. Never holds a part of the key.
 */
export function keyFault(key: string): string | null {
  if (/^(?:ssh-|ecdsa-|sk-)[a-z0-9@.-]+ AAAA/.test(key)) return 'is a public key; the private key is needed';
  if (key.startsWith('PuTTY-User-Key-File')) return "is in PuTTY's format; puttygen can export it in OpenSSH's";
  const found = /-----BEGIN ([A-Z0-9 ]*)PRIVATE KEY-----([^]*)/.exec(key);
  if (found === null) return "is not a private key: it has no line '-----BEGIN … PRIVATE KEY-----'";
  const [, label = '', rest = ''] = found;
  if (!rest.startsWith('\n'))
    return "is not a private key: the line break after '-----BEGIN … PRIVATE KEY-----' is lost";
  const end = rest.indexOf(`\n-----END ${label}PRIVATE KEY-----`);
  if (end < 0) return "is cut off: it has no line '-----END … PRIVATE KEY-----'";
  const body = rest.slice(0, end);
  const locked = 'is protected by a passphrase, which nobody can type in a job; give a key without one';
  if (label === 'ENCRYPTED ' || /^Proc-Type: 4,ENCRYPTED$/m.test(body)) return locked;
  if (label !== 'OPENSSH ') return null;
  // "openssh-key-v1", NUL, then the name of the cipher with its length before it (OpenSSH, PROTOCOL.key).
  const bytes = Buffer.from(body, 'base64');
  const magic = Buffer.from('openssh-key-v1\0', 'latin1');
  const name = magic.length + 4;
  if (bytes.length < name || !bytes.subarray(0, magic.length).equals(magic)) return 'is damaged';
  const cipher = bytes.subarray(name, name + Math.min(bytes.readUInt32BE(magic.length), 64)).toString('latin1');
  return cipher === 'none' ? null : locked;
}

/** The lines of a key that are secret, for the runner to mask: it masks by lines. */
export function secretLines(key: string): string[] {
  return key.split('\n').filter((line) => line !== '' && !line.startsWith('-----'));
}

/** `user@host:owner/name.git`. The address of the server may have a port, which is not that of its SSH server. */
export function sshUrl(user: string, serverOrigin: string, path: string): string {
  return `${user}@${new URL(serverOrigin).hostname}:${path}.git`;
}

/** New paths for the files of a step. */
export function newSshFiles(runnerTemp: string): SshFiles {
  const id = randomUUID();
  return { keyPath: join(runnerTemp, id), knownHostsPath: join(runnerTemp, `${id}_known_hosts`) };
}

/** The full path of ssh; null where PATH has none. Entries that depend on the current directory are passed over. */
function findSsh(environment: Environment, platform: NodeJS.Platform): string | null {
  const path = platform === 'win32' ? win32 : posix;
  const name = Object.keys(environment).find((key) => (platform === 'win32' ? key.toUpperCase() : key) === 'PATH');
  for (const folder of ((name === undefined ? undefined : environment[name]) ?? '').split(path.delimiter)) {
    if (!path.isAbsolute(folder)) continue;
    const program = path.join(folder, platform === 'win32' ? 'ssh.exe' : 'ssh');
    try {
      if (statSync(program, { throwIfNoEntry: false })?.isFile() === true) return program;
    } catch {
      // A folder of PATH that may not be read has none.
    }
  }
  return null;
}

/** Inside of double quotes of a shell, as it stands. */
function shellQuoted(text: string): string {
  return text.replace(/[\\"$`]/g, '\\$&');
}

/**
 * The command that git runs in place of `ssh`. `$RUNNER_TEMP` is left to the shell: in a container action it is another
 * directory, with the same files in it. Pure.
 *
 * @param timeouts options that end a connection to a dead server
 */
export function sshCommand(
  program: string,
  files: SshFiles,
  strict: boolean,
  timeouts: readonly (readonly [name: string, value: number])[],
): string {
  const option = (name: string, value: string | number): string => `-o ${name}=${value}`;
  return [
    `"${shellQuoted(program)}"`,
    `-i "$RUNNER_TEMP/${basename(files.keyPath)}"`,
    option('BatchMode', 'yes'), // nobody is there to answer
    ...(strict ? [option('StrictHostKeyChecking', 'yes'), option('CheckHostIP', 'no')] : []),
    // ssh takes several files here, parted by blanks, so that a path with a blank needs quotes of its own.
    `-o "UserKnownHostsFile=\\"$RUNNER_TEMP/${basename(files.knownHostsPath)}\\""`,
    ...timeouts.map(([name, value]) => option(name, value)),
  ].join(' ');
}

/** The options against dead servers that ssh's configuration for this host leaves open; `listing` is of `ssh -G`. Pure. */
export function missingTimeouts(listing: string): [name: string, value: number][] {
  const set = (name: string): boolean => new RegExp(`^${name} [1-9]`, 'm').test(listing);
  const missing: [string, number][] = [];
  if (!set('connecttimeout')) missing.push(['ConnectTimeout', CONNECT_TIMEOUT_SECONDS]);
  if (!set('serveraliveinterval')) missing.push(['ServerAliveInterval', ALIVE_INTERVAL_SECONDS]);
  return missing;
}

/** The arguments of icacls that leave a file to one user; the mode of a file means nothing on Windows. */
export function icaclsArguments(path: string, environment: Environment): string[] {
  return [path, '/inheritance:r', '/grant:r', `${environment['USERDOMAIN'] ?? ''}\\${environment['USERNAME'] ?? ''}:F`];
}

/** What the file of known hosts holds: those of the user, those of the input, and github.com. */
export function knownHostsText(ofUser: string, ofInput: string): string {
  const lines = [ofUser, ofInput, ...GITHUB_HOST_KEYS.map((key) => `github.com ${key}`)];
  return lines
    .filter((text) => text.trim() !== '')
    .map((text) => `${text.replace(/\r\n?/g, '\n').trimEnd()}\n`)
    .join('');
}

function readKnownHosts(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return '';
    throw ioError('read', path, error);
  }
}

/** Writes both files, new ones that only the owner can read. Throws `io`. */
async function writeSshFiles(
  files: SshFiles,
  settings: SshSettings,
  userHome: string,
  environment: Environment,
): Promise<void> {
  const { keyPath, knownHostsPath } = files;
  const ofUser = readKnownHosts(join(userHome, '.ssh', 'known_hosts'));
  try {
    writeFileSync(keyPath, '', { mode: 0o600, flag: 'wx' });
    // Before the key is in it.
    if (process.platform === 'win32') {
      await promisify(execFile)('icacls.exe', icaclsArguments(keyPath, environment), { windowsHide: true });
    }
    writeFileSync(keyPath, settings.key, { flag: 'r+' });
  } catch (error) {
    throw ioError('write', keyPath, error);
  }
  try {
    const ofInput = Buffer.from(settings.knownHosts, 'utf8').toString('latin1');
    writeFileSync(knownHostsPath, knownHostsText(ofUser, ofInput), { mode: 0o600, flag: 'wx', encoding: 'latin1' });
  } catch (error) {
    throw ioError('write', knownHostsPath, error);
  }
}

/** The command, and how the files that it names come to be. */
export interface PlannedSsh {
  /** What git runs for ssh. */
  readonly command: string;
  /** Writes the files. Throws `io`. */
  readonly writeFiles: () => Promise<void>;
}

/**
 * Finds ssh, asks it how it is configured, and makes the command. Writes nothing yet.
 *
 * @throws CheckoutError usage where there is no ssh
 */
export async function planSsh(
  settings: { readonly ssh: SshSettings | null; readonly url: string },
  files: SshFiles,
  userHome: string,
  environment: Environment,
  signal: AbortSignal,
): Promise<PlannedSsh | null> {
  const { ssh, url } = settings;
  if (ssh === null) return null;
  const program = findSsh(environment, process.platform);
  if (program === null) {
    throw new CheckoutError('usage', `input 'ssh-key' needs ssh, which is not installed or not in PATH`, {
      option: 'ssh-key',
    });
  }
  let listing = '';
  try {
    const options = { timeout: CONFIGURATION_TIMEOUT_MS, killSignal: 'SIGKILL', signal, windowsHide: true } as const;
    const host = url.slice(0, url.lastIndexOf(':')).replace(/[[\]]/g, '');
    ({ stdout: listing } = await promisify(execFile)(program, ['-G', '--', host], options));
  } catch {
    // An ssh that cannot tell (before OpenSSH 6.8) or whose configuration is broken; the fetch will say so.
  }
  return {
    command: sshCommand(program, files, ssh.strict, missingTimeouts(listing)),
    writeFiles: () => writeSshFiles(files, ssh, userHome, environment),
  };
}

/** Removes one of them, if it is there. Throws `io`. */
export function removeSshFile(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch (error) {
    throw ioError('remove', path, error);
  }
}

/**
 * The names in RUNNER_TEMP of the key and the known hosts that a `core.sshCommand` of a checkout step, ours or that of
 * actions/checkout, has in it; none for another command.
 */
export function filesOfCommand(command: string): string[] {
  const key = / -i "\$RUNNER_TEMP\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"/i.exec(command)?.[1];
  return key === undefined ? [] : [key, `${key}_known_hosts`];
}

/** What to do about it, added to ssh's refusal; any other error as it is. */
export function sshHint(error: unknown): unknown {
  if (!(error instanceof CheckoutError) || error.code !== 'authentication-failed') return error;
  let hint: string | null = null;
  if (/Host key verification failed|host key is known for|Host key for .* has changed/i.test(error.message)) {
    hint = "the host's key must be among 'ssh-known-hosts' (see ssh-keyscan)";
  } else if (/Load key /.test(error.message)) {
    hint = "the private key in 'ssh-key' cannot be read";
  } else if (/Permission denied/.test(error.message)) {
    hint = "the server does not accept the key in 'ssh-key'";
  }
  return hint === null ? error : new CheckoutError(error.code, `${error.message}; ${hint}`, error.subject, error);
}
