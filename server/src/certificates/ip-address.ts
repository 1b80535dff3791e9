/** IP addresses from text to the bytes that certificates hold (RFC 5280, section 4.2.1.6). */

import { isIP } from 'node:net';

/** 4 or 16 bytes in network order, or undefined where the text is no IP address. */
export function ipAddressBytes(text: string): Uint8Array | undefined {
  const version = isIP(text);
  if (version === 4) return Uint8Array.from(text.split('.'), Number);
  return version === 6 && !text.includes('%') ? ipv6Bytes(text) : undefined;
}

function ipv6Bytes(text: string): Uint8Array {
  // The URL parser writes every form of an IPv6 address as groups of hexadecimal digits with at most one `::`.
  const canonical = new URL(`https://[${text}]`).hostname.slice(1, -1);
  const [before = '', after] = canonical.split('::');
  const groups = (part: string) => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)));
  const head = groups(before);
  const tail = after === undefined ? [] : groups(after);
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => 0);
  return Uint8Array.from([...head, ...zeros, ...tail].flatMap((group) => [group >> 8, group & 0xff]));
}
