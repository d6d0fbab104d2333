/**
 * Where the REST interface of a server is: as actions/checkout has it, but for one case that sends the token to a stranger.
 * Pure.
 */

/**
 * Without the input `github-server-url` the runner knows (GITHUB_API_URL). With it, GitHub's own hosts have a host `api.` for
 * it and all others a path. Where the runner does not know, the server's address decides too; actions/checkout takes
 * api.github.com then, whatever server the token is of.
 *
 * @param serverOrigin such as `https://github.com`
 * @returns an address without a slash at the end
 */
export function restBaseUrl(serverUrlInput: string, serverOrigin: string, runnerApiUrl: string): string {
  if (serverUrlInput === '' && runnerApiUrl !== '') return runnerApiUrl.replace(/\/+$/, '');
  const url = new URL(serverOrigin);
  const isGitHub = url.hostname === 'github.com' || /\.(?:ghe\.com|localhost)$/.test(url.hostname);
  return isGitHub ? `${url.protocol}//api.${url.host}` : `${url.origin}/api/v3`;
}
