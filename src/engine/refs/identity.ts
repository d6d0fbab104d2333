/**
 * Who moved a ref: the committer that a reflog line names, by git's rules (git-commit(1), "COMMIT INFORMATION") with
 * their fallbacks, so that a machine without any configuration can check out. One difference: a host name without a
 * dot gets ".(none)" at once, where git would ask the network for the full name first.
 */
import { readFileSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import type { Config } from '../config/config.ts';
import type { Environment } from '../config/environment.ts';

/** What the system says about the user; looked up only when configuration and environment leave a gap. */
export interface SystemUser {
  readonly login: string;
  /** The full name of the account, '' when it has none. */
  readonly fullName: string;
  /** Domain for mail: /etc/mailname, or the host's name. */
  readonly mailHost: string;
}

/** Asks the system. A user id without an account (usual in containers) is "unknown", as git has it. */
export function systemUser(): SystemUser {
  let login: string;
  let fullName: string;
  try {
    const { username, uid } = userInfo();
    login = username;
    const account = readText('/etc/passwd')
      .split('\n')
      .map((line) => line.split(':'))
      .find((fields) => fields[2] === String(uid));
    const capitalised = login.slice(0, 1).toUpperCase() + login.slice(1);
    fullName = (account?.[4] ?? '').split(',')[0]!.replaceAll('&', () => capitalised);
  } catch {
    login = 'unknown';
    fullName = 'Unknown';
  }
  const mailname = readText('/etc/mailname').split('\n')[0]!.trim();
  const host = hostname();
  return { login, fullName, mailHost: mailname !== '' ? mailname : host.includes('.') ? host : `${host}.(none)` };
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // not on every system
  }
}

/** Without what would break a reflog line, and without punctuation around it. */
function withoutCrud(text: string): string {
  // eslint-disable-next-line no-control-regex -- control characters are what git drops
  const crud = /^[\u0000-\u0020.,:;<>"\\']+|[\u0000-\u0020.,:;<>"\\']+$/g;
  return text.replace(crud, '').replace(/[\n<>]/g, '');
}

const filled = (...values: readonly (string | undefined)[]): string | undefined =>
  values.find((value) => value !== undefined && value !== '');

/**
 * "NAME <EMAIL> EPOCH ZONE" as in reflogs.
 *
 * @param now milliseconds since 1970
 * @param offsetMinutes east of Greenwich
 */
export function committerLine(
  config: Config,
  environment: Environment,
  now: number,
  offsetMinutes: number,
  lookUp: () => SystemUser = systemUser,
): string {
  let user: SystemUser | undefined;
  const system = (): SystemUser => (user ??= lookUp());
  const name =
    filled(environment['GIT_COMMITTER_NAME'], config.get('committer.name'), config.get('user.name')) ??
    filled(system().fullName.trim(), system().login)!;
  const email =
    filled(
      environment['GIT_COMMITTER_EMAIL'],
      config.get('committer.email'),
      config.get('user.email'),
      environment['EMAIL'],
    ) ?? `${system().login}@${system().mailHost}`;
  const date = parseDate(environment['GIT_COMMITTER_DATE']) ?? `${Math.floor(now / 1000)} ${zone(offsetMinutes)}`;
  return `${withoutCrud(name)} <${withoutCrud(email)}> ${date}`;
}

function zone(offsetMinutes: number): string {
  const minutes = Math.abs(offsetMinutes);
  const digits = (value: number): string => String(value).padStart(2, '0');
  return `${offsetMinutes < 0 ? '-' : '+'}${digits(Math.floor(minutes / 60))}${digits(minutes % 60)}`;
}

/**
 * GIT_COMMITTER_DATE in git's own form ("@1700000000 +0100"), or ISO 8601 or RFC 2822 with a zone; null when it is
 * unset or in a form that we do not read (git's relative dates), for which the time now stands in.
 */
function parseDate(text: string | undefined): string | null {
  if (text === undefined) return null;
  const raw = /^\s*@?(\d{1,15})\s+([+-]\d{4})\s*$/.exec(text);
  if (raw !== null) return `${raw[1]!} ${raw[2]!}`;
  const offset = /([+-])(\d\d):?(\d\d)\s*$|(Z)\s*$/i.exec(text);
  const time = Date.parse(text);
  if (offset === null || Number.isNaN(time)) return null;
  return `${Math.floor(time / 1000)} ${offset[4] === undefined ? `${offset[1]!}${offset[2]!}${offset[3]!}` : '+0000'}`;
}
