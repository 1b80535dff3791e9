/** The option that names a proxy, the same in every command that calls somebody. */

export const PROXY = [
  '--proxy <url>',
  'proxy to go through, never to this machine itself [HTTPS_PROXY, HTTP_PROXY, NO_PROXY]',
] as const;
