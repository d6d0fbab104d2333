/**
 * What a submodule's URL means. One that begins with `./` or `../` is relative to the URL of the repository that has the
 * submodule, by rules of git's own (git-submodule(1), "add"): it is cut at slashes, and an scp-like address at its colon,
 * so neither a URL parser nor a path library gives the same. Pure.
 */
import { CheckoutError } from '../errors.ts';
import { redactUrls } from '../fetch/redact.ts';

/** Whether git resolves this URL; all others are taken as they are. */
export function isRelativeUrl(url: string): boolean {
  return url.startsWith('./') || url.startsWith('../');
}

/** Whether a remote's URL is itself a path that is relative to its working tree. */
function isRelativePath(url: string): boolean {
  if (url.startsWith('/')) return false;
  const colon = url.indexOf(':');
  const slash = url.indexOf('/');
  // `host:path`, `https://…`: a colon before the first slash makes it no path.
  return colon < 0 || (slash >= 0 && slash < colon);
}

/**
 * The URL of a submodule.
 *
 * @param url as .gitmodules has it
 * @param remoteUrl of the repository that has the submodule; its path where it has no remote
 * @param up leads from the submodule's working tree to that of its repository (`../../`), for the submodule's own remote;
 *   empty for what the repository notes about the submodule
 * @throws CheckoutError 'usage' when there are more `../` than the remote's URL has parts
 */
export function resolveSubmoduleUrl(url: string, remoteUrl: string, up = ''): string {
  if (!isRelativeUrl(url)) return url;
  const relative = isRelativePath(remoteUrl);
  let base = remoteUrl.replace(/\/$/, '');
  if (relative && !isRelativeUrl(base)) base = `./${base}`;
  let rest = url;
  let separator = '/';
  for (;;) {
    if (rest.startsWith('../')) {
      rest = rest.slice('../'.length);
      const slash = base.lastIndexOf('/');
      const colon = base.lastIndexOf(':');
      if (slash >= 0) base = base.slice(0, slash);
      else if (colon >= 0) {
        base = base.slice(0, colon);
        separator = ':';
      } else if (relative || base === '.') {
        const shown = redactUrls(remoteUrl);
        throw new CheckoutError('usage', `the URL '${redactUrls(url)}' leads out of the remote's, '${shown}'`);
      } else base = '.';
    } else if (rest.startsWith('./')) rest = rest.slice('./'.length);
    else break;
  }
  const joined = `${base}${separator}${rest}`.replace(/\/$/, '').replace(/^\.\//, '');
  return relative ? up + joined : joined;
}
