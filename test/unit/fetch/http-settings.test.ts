import { describe, expect, it } from 'vitest';
import { Config } from '../../../src/engine/config/config.ts';
import { type HttpSettings, httpSettings, rewriteUrl } from '../../../src/engine/fetch/http-settings.ts';

const URL = 'https://example.com:8443/owner/repo';
const settings = (
  config: Readonly<Record<string, string | null>>,
  environment: Readonly<Record<string, string>> = {},
  url = URL,
): HttpSettings | string => httpSettings(url, 'origin', Config.of(config), environment);

describe('what the configuration says of a server', () => {
  it('by default nothing', () => {
    expect(settings({})).toEqual({
      url: URL,
      headers: [],
      userAgent: null,
      proxy: null,
      caFile: null,
      followRedirects: true,
      lowSpeed: null,
    });
  });

  it('headers of the URLs that match, and of no other', () => {
    const headers = (key: string, url = URL): unknown =>
      (settings({ [`http.${key}.extraHeader`]: 'Authorization: basic xyz' }, {}, url) as HttpSettings).headers.length;
    for (const key of ['https://example.com:8443', 'https://example.com:8443/', 'https://example.com:8443/owner'])
      expect(headers(key), key).toBe(1);
    for (const key of ['https://*.com:8443/', 'https://example.com:8443/owner/repo/'])
      expect(headers(key), key).toBe(1);
    for (const key of [
      'https://example.com/',
      'http://example.com:8443/',
      'https://example.com.evil.org:8443/',
      'https://evil.org/https://example.com:8443/',
      'https://example.com:8443/own',
      'https://*:8443/',
      'https://user@example.com:8443/',
      'not a url',
    ]) {
      expect(headers(key), key).toBe(0);
    }
    expect(headers('https://example.com:443/', 'https://example.com/x')).toBe(1);
  });

  it('all headers in their order, an empty one forgetting those before it, and the more exact URL winning', () => {
    const of = (...list: readonly (readonly [string, string])[]): unknown => {
      const text = list.map(([key, value]) => `command line:\0${key}\n${value}\0`).join('');
      return (httpSettings(URL, null, Config.parse(Buffer.from(text)), {}) as HttpSettings).headers;
    };
    expect(of(['http.extraheader', 'A: 1'], ['http.https://example.com:8443/.extraheader', 'B: 2'])).toEqual([
      ['A', '1'],
      ['B', '2'],
    ]);
    // As git has it: what is for less of the URL does not count behind what is for more.
    expect(of(['http.https://example.com:8443/.extraheader', 'B: 2'], ['http.extraheader', 'A: 1'])).toEqual([
      ['B', '2'],
    ]);
    expect(of(['http.extraheader', 'A: 1'], ['http.extraheader', ''], ['http.extraheader', 'C:3'])).toEqual([
      ['C', '3'],
    ]);
  });

  it('user and password of the URL become a header and leave it', () => {
    expect(settings({}, {}, 'https://user:p%40ss@example.com/x')).toMatchObject({
      url: 'https://example.com/x',
      headers: [['Authorization', `Basic ${Buffer.from('user:p@ss').toString('base64')}`]],
    });
  });

  it('proxy, authorities, user agent, redirects and the low speed limit', () => {
    expect(
      settings({
        'http.proxy': 'proxy.example.com:3128',
        'http.sslCAInfo': '/ca.pem',
        'http.userAgent': 'x',
        'http.followRedirects': 'false',
        'http.lowSpeedLimit': '1000',
        'http.lowSpeedTime': '30',
      }),
    ).toMatchObject({
      proxy: 'http://proxy.example.com:3128',
      caFile: '/ca.pem',
      userAgent: 'x',
      followRedirects: false,
      lowSpeed: { bytesPerSecond: 1000, seconds: 30 },
    });
    expect(settings({ 'http.proxy': 'http://a', 'remote.origin.proxy': '' })).toMatchObject({ proxy: '' });
    expect(settings({ 'http.sslCAInfo': '/ca.pem' }, { GIT_SSL_CAINFO: '/other.pem' })).toMatchObject({
      caFile: '/other.pem',
    });
    expect(settings({ 'http.sslCAInfo': '~/ca.pem' }, { HOME: '/home/x' })).toMatchObject({ caFile: '/home/x/ca.pem' });
  });
});

describe('what is for git', () => {
  it.each([
    [{ 'http.sslVerify': 'false' }, {}, /sslVerify/],
    [{ 'http.cookieFile': 'x' }, {}, /http\.cookiefile/],
    [{ 'http.https://example.com:8443/.sslCert': 'x' }, {}, /http\.sslcert/],
    [{ 'http.proxy': 'socks5://localhost:1' }, {}, /not an HTTP proxy/],
    [{}, { all_proxy: 'socks5h://localhost:1' }, /not an HTTP proxy/],
    [{ 'http.proxyAuthMethod': 'ntlm' }, {}, /proxyauthmethod/],
    [{ 'http.extraHeader': 'no header' }, {}, /has no header/],
    [{ 'http.extraHeader': 'A: b\r\nC: d' }, {}, /has no header/],
    [{}, { GIT_SSL_NO_VERIFY: '1' }, /GIT_SSL_NO_VERIFY/],
    [{}, { GIT_TRACE_CURL: '1' }, /GIT_TRACE_CURL/],
    [{ 'http.inventedLater': 'x' }, {}, /http\.inventedlater/],
  ] as const)('%j %j', (config, environment, reason) => {
    expect(settings(config, environment)).toMatch(reason);
  });

  it('other addresses', () => {
    for (const url of [
      'git@host:x',
      '/path',
      'ssh://host/x',
      'https://user@example.com/x',
      'https://example.com/x?y',
    ]) {
      expect(typeof settings({}, {}, url), url).toBe('string');
    }
  });

  it('settings of other servers are none', () => {
    expect(typeof settings({ 'http.https://other.org/.sslVerify': 'false' })).toBe('object');
  });
});

it('rewrites URLs by the longest beginning', () => {
  const config = Config.of({
    'url.https://mirror/.insteadOf': 'https://example.com/',
    'url.https://near/.insteadOf': 'https://example.com/owner/',
  });
  expect(rewriteUrl('https://example.com/owner/repo', config)).toBe('https://near/repo');
  expect(rewriteUrl('https://example.com/x', config)).toBe('https://mirror/x');
  expect(rewriteUrl('https://other/x', config)).toBe('https://other/x');
});
