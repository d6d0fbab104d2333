declare module 'proxy-from-env' {
  /** The proxy for a URL, of the process's environment; '' for none. */
  export function getProxyForUrl(url: string | URL): string;
}
