/**
 * What git's configuration and environment say of a server that is asked over HTTP, for a client of our own. What that client cannot do as
 * git would is a reason to leave the fetch to git; a setting that is not known here is one, too. Pure.
 */
import { type Environment, environmentFlag } from '../config/environment.ts';
import type { Config, SectionValue } from '../config/config.ts';
import { expandConfigPath, parseConfigBool, parseConfigInt } from '../config/config-values.ts';
import { settingsFor } from './url-match.ts';

export interface HttpSettings {
  /** Without user and password. */
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly userAgent: string | null;
  /** Of the configuration; '' for none at all, null where the environment decides. */
  readonly proxy: string | null;
  /** File with certificates of authorities. */
  readonly caFile: string | null;
  readonly followRedirects: boolean;
  /** Fewer bytes a second than this, for so many seconds, end a fetch. Null where neither is set. */
  readonly lowSpeed: { readonly bytesPerSecond: number; readonly seconds: number } | null;
}

/** Settings that change nothing here: how curl keeps and buffers its connections, and what takes effect on a push. */
const WITHOUT_EFFECT = new Set([
  'postbuffer',
  'version',
  'minsessions',
  'maxrequests',
  'noepsv',
  'keepaliveidle',
  'keepaliveinterval',
  'keepalivecount',
  'emptyauth',
]);

const PROXY_VARIABLES: readonly string[] = ['http_proxy', 'https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'];

/** Variables with which git's client does what ours does not. */
const VARIABLES_OF_GIT: readonly string[] = [
  'GIT_SSL_CERT',
  'GIT_SSL_KEY',
  'GIT_SSL_CERT_TYPE',
  'GIT_SSL_KEY_TYPE',
  'GIT_SSL_CAPATH',
  'GIT_SSL_VERSION',
  'GIT_SSL_CIPHER_LIST',
  'GIT_PROXY_SSL_CERT',
  'GIT_PROXY_SSL_KEY',
  'GIT_PROXY_SSL_CAINFO',
  'GIT_HTTP_PROXY_AUTHMETHOD',
  // Whoever sets one of these wants to see git's own talk with the server.
  'GIT_CURL_VERBOSE',
  'GIT_TRACE_CURL',
  'GIT_TRACE_PACKET',
];

/** The URL that url.<base>.insteadOf makes of one: the longest beginning counts. */
export function rewriteUrl(url: string, config: Config): string {
  let longest = '';
  let base = '';
  for (const { subsection, name, value } of config.section('url')) {
    if (name !== 'insteadof' || subsection === null || value === null) continue;
    if (value.length <= longest.length || !url.startsWith(value)) continue;
    longest = value;
    base = subsection;
  }
  return longest === '' ? url : base + url.slice(longest.length);
}

/**
 * Finds out how a URL is asked.
 * @param remote name of the remote, for its own settings; null for a bare URL
 * @returns the reason, a phrase, where that is for git
 */
export function httpSettings(
  url: string,
  remote: string | null,
  config: Config,
  environment: Environment,
): HttpSettings | string {
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) return 'the remote is not asked over HTTP';
  if (parsed.search !== '' || parsed.hash !== '') return "the remote's URL is an unusual one";
  if (parsed.username !== '' && parsed.password === '') return "the remote's URL names a user without a password";
  const variable = VARIABLES_OF_GIT.find((name) => (environment[name] ?? '') !== '');
  if (variable !== undefined) return `${variable} is set`;
  if (environmentFlag(environment, 'GIT_SSL_NO_VERIFY')) return 'GIT_SSL_NO_VERIFY is set';
  const found = readSettings(settingsFor(config.section('http'), parsed));
  if (typeof found === 'string') return found;
  const own = remote === null ? undefined : config.get(`remote.${remote}.proxy`);
  if (remote !== null && config.get(`remote.${remote}.proxyAuthMethod`) !== undefined) {
    return `remote.${remote}.proxyAuthMethod is set`;
  }
  const proxy = own ?? found.proxy;
  if (proxy !== null && proxy.includes('://') && !/^https?:/i.test(proxy)) {
    return 'the proxy is not an HTTP proxy';
  }
  if (proxy === null && PROXY_VARIABLES.some((name) => /^socks/i.test(environment[name] ?? ''))) {
    return 'the proxy is not an HTTP proxy';
  }
  const headers = [...found.headers];
  if (parsed.password !== '') {
    const user = `${decodeURIComponent(parsed.username)}:${decodeURIComponent(parsed.password)}`;
    headers.push(['Authorization', `Basic ${Buffer.from(user).toString('base64')}`]);
    parsed.username = '';
    parsed.password = '';
  }
  const caFile = environment['GIT_SSL_CAINFO'] ?? expandConfigPath(found.caFile, environment);
  if (caFile === null) return 'http.sslCAInfo is no path that can be expanded';
  return {
    url: parsed.href,
    headers,
    userAgent: environment['GIT_HTTP_USER_AGENT'] ?? found.userAgent,
    proxy: proxy === null || proxy === '' || proxy.includes('://') ? proxy : `http://${proxy}`,
    caFile: caFile === '' ? null : caFile,
    followRedirects: found.followRedirects,
    lowSpeed: lowSpeed(found, environment),
  };
}

interface Found {
  headers: [name: string, value: string][];
  userAgent: string | null;
  proxy: string | null;
  caFile: string;
  followRedirects: boolean;
  lowSpeedLimit: number | null;
  lowSpeedTime: number | null;
}

function readSettings(settings: readonly SectionValue[]): Found | string {
  const found: Found = {
    headers: [],
    userAgent: null,
    proxy: null,
    caFile: '',
    followRedirects: true,
    lowSpeedLimit: null,
    lowSpeedTime: null,
  };
  for (const { name, value } of settings) {
    const text = value ?? '';
    switch (name) {
      case 'extraheader': {
        // An empty one forgets those before it.
        if (text === '') found.headers = [];
        const [, header = '', content = ''] = /^([^:\s]+)\s*:\s*(.*)$/s.exec(text) ?? [];
        if (text !== '' && (header === '' || /[\r\n\0]/.test(text))) return 'http.extraHeader has no header';
        if (text !== '') found.headers.push([header, content]);
        break;
      }
      case 'useragent':
        found.userAgent = text;
        break;
      case 'proxy':
        found.proxy = text;
        break;
      case 'sslcainfo':
        found.caFile = text;
        break;
      case 'sslverify':
        if (parseConfigBool(value) !== true) return 'http.sslVerify is off';
        break;
      case 'followredirects':
        found.followRedirects = text.toLowerCase() === 'initial' || parseConfigBool(value) === true;
        break;
      case 'lowspeedlimit':
        found.lowSpeedLimit = parseConfigInt(text);
        break;
      case 'lowspeedtime':
        found.lowSpeedTime = parseConfigInt(text);
        break;
      default:
        if (!WITHOUT_EFFECT.has(name)) return `http.${name} is set`;
    }
  }
  return found;
}

function lowSpeed(found: Found, environment: Environment): HttpSettings['lowSpeed'] {
  const number = (name: string): number | null => parseConfigInt(environment[name] ?? '');
  const bytesPerSecond = number('GIT_HTTP_LOW_SPEED_LIMIT') ?? found.lowSpeedLimit ?? 0;
  const seconds = number('GIT_HTTP_LOW_SPEED_TIME') ?? found.lowSpeedTime ?? 0;
  return bytesPerSecond > 0 && seconds > 0 ? { bytesPerSecond, seconds } : null;
}
