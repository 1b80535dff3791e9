/** Whether a URL leads to this machine only: the one case where `http:` is allowed. */

import { isIPv4 } from 'node:net';

/**
 * Judges the host that the URL parser made of the text, never the text itself: `127.1` and `0x7f000001` are 127.0.0.1
 * there already, while `127.0.0.1.example.com` and `localhost@example.com` are what they are.
 */
export function isLoopback(url: URL): boolean {
  const host = url.hostname;
  return host === 'localhost' || host === '[::1]' || (isIPv4(host) && host.startsWith('127.'));
}
