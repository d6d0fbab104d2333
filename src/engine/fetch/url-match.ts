/**
 * Which `http.<url>.*` settings are for a URL, and which of them win (git-config(1), "http.<url>.*"): scheme, host and port have to be the
 * same, a path may be a beginning, and the longer match wins. Pure.
 */
import type { SectionValue } from '../config/config.ts';

/** How well a setting's URL matches; compared member by member. Zeros for a setting without a URL. */
type Match = readonly [host: number, path: number, user: number];

const NO_URL: Match = [0, 0, 0];

/**
 * The settings of section `http` that are for a URL, in their order. A setting that is for less of the URL than an earlier one of the
 * same name is left out.
 */
export function settingsFor(settings: readonly SectionValue[], url: URL): SectionValue[] {
  const best = new Map<string, Match>();
  return settings.filter(({ subsection, name }) => {
    const match = subsection === null ? NO_URL : matchUrl(subsection, url);
    if (match === null) return false;
    const before = best.get(name);
    if (before !== undefined && compareMatches(match, before) < 0) return false;
    best.set(name, match);
    return true;
  });
}

function compareMatches(a: Match, b: Match): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
}

function matchUrl(pattern: string, url: URL): Match | null {
  // A star in a host is none of a URL's characters, so it is put in place of a name that nobody has.
  const host = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/@]*@)?([^/:]*)/i.exec(pattern)?.[1] ?? '';
  const parsed = URL.parse(pattern.replace(host, () => host.replaceAll('*', 'star-in-host')));
  if (parsed?.protocol !== url.protocol || parsed.port !== url.port) return null;
  const user = decodeURIComponent(parsed.username);
  if (user !== '' && user !== decodeURIComponent(url.username)) return null;
  if (!hostMatches(parsed.hostname.replaceAll('star-in-host', '*'), url.hostname)) return null;
  const path = pathBeginning(parsed.pathname, url.pathname);
  return path === null ? null : [host.length, path, user === '' ? 0 : 1];
}

/** A star stands for one whole part between dots. */
function hostMatches(pattern: string, host: string): boolean {
  const parts = host.split('.');
  const wanted = pattern.split('.');
  return parts.length === wanted.length && wanted.every((part, i) => part === '*' || part === parts[i]);
}

/** Length of a path that another begins with, at a slash; null where it does not. */
function pathBeginning(beginning: string, path: string): number | null {
  const start = beginning.replace(/\/+$/, '');
  return path === start || path.startsWith(`${start}/`) ? start.length + 1 : null;
}
