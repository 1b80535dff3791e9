/** Connection files in every encoding, and broken ones. */

import type { Fixture } from '../support/fixtures.ts';

const TEXT = 'full address:s:server.example.com\r\nserver port:i:3389\r\nscreen mode id:i:2\r\nredirectdrives:i:0\r\n';
const SIGNED = `${TEXT}signscope:s:Full Address\r\nsignature:s:`;

const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le');
const appendCode = 'cannot-append';

export const GOOD_CONNECTIONS: readonly Fixture[] = [
  { name: 'utf16.rdp', what: 'as Windows writes it', bytes: utf16(`${TEXT}gatewayhostname:s:Brücke\r\n`), appendCode },
  { name: 'ascii.rdp', what: 'ASCII without a last line end', bytes: Buffer.from(TEXT.trimEnd()), appendCode },
  { name: 'bom.rdp', what: 'UTF-8 with a BOM', bytes: Buffer.from(`\ufeff${TEXT}loadbalanceinfo:s:ü\n`), appendCode },
  {
    name: 'ansi.rdp',
    what: 'bytes beyond ASCII in a setting that is not signed, line ends of Linux, the alternate address in front',
    bytes: Buffer.from(`alternate full address:s:x\n${TEXT.replaceAll('\r', '')}username:s:J\xfcrgen\n`, 'latin1'),
    appendCode,
  },
];

const malformed = (code: string, name: string, what: string, bytes: Buffer | string): Fixture => ({
  ...{ name, what, code },
  bytes: typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes,
});
const ambiguous = (name: string, what: string, bytes: Buffer | string) =>
  malformed('rdp-setting-ambiguous', name, what, bytes);
const header = (...words: readonly number[]) => Buffer.from(Uint32Array.from(words).buffer).toString('base64');

export const MALFORMED_CONNECTIONS: readonly Fixture[] = [
  malformed('file-too-large', 'large.rdp', 'a large file', Buffer.alloc(1024 * 1024 + 1, 'a')),
  malformed('rdp-encoding', 'utf16be.rdp', 'UTF-16BE', utf16(TEXT).swap16()),
  malformed('rdp-encoding', 'odd.rdp', 'half a character', utf16(TEXT).subarray(0, -1)),
  malformed('rdp-encoding', 'nobom.rdp', 'UTF-16 without a BOM', utf16(TEXT).subarray(2)),
  malformed('rdp-encoding', 'broken.rdp', 'a BOM of UTF-8, and no UTF-8', `\xef\xbb\xbf${TEXT}\xff`),
  ambiguous('twice.rdp', 'a signed setting twice', `${TEXT}Full Address:s:other.example.com\r\n`),
  ambiguous('spaces.rdp', 'spaces around a name', `${TEXT} alternate shell:s:cmd\r\n`),
  ambiguous('no-value.rdp', 'a signed setting without a type', `${TEXT}alternate shell:cmd\r\n`),
  ambiguous('wide.rdp', 'a wide letter in a name', utf16(`${TEXT}\uff41lternate shell:s:cmd\r\n`)),
  ambiguous('no-width.rdp', 'a letter without width', utf16(`${TEXT}pcb\u200b:s:x\r\n`)),
  ...['\r', '\r\r', '\x0b', '\x0c', '\x1a', '\x1c', '\x1e', '\x7f', '\x85', '\u2028', '\u2029'].map((end, index) => {
    const text = utf16(`${TEXT}username:s:x${end}alternate shell:s:cmd.exe\r\n`);
    return ambiguous(`separator-${index}.rdp`, `a setting behind ${JSON.stringify(end)} in an unsigned line`, text);
  }),
  ambiguous('nel.rdp', 'U+0085 in a file without a BOM', `${TEXT}username:s:x\x85pcb:s:y\r\n`),
  malformed('rdp-signature-damaged', 'scope.rdp', 'a scope alone', `${TEXT}signscope:s:Full Address\r\n`),
  malformed('rdp-signature-damaged', 'alone.rdp', 'a signature alone', `${TEXT}signature:s:AAAA\r\n`),
  malformed('rdp-signature-damaged', 'base64.rdp', 'a signature that is not Base64', `${SIGNED}A*==\r\n`),
  malformed('rdp-signature-damaged', 'version.rdp', 'another version', `${SIGNED}${header(0x20001, 1, 3, 1)}\r\n`),
  malformed('rdp-signature-damaged', 'length.rdp', 'a wrong length', `${SIGNED}${header(0x10001, 1, 3, 1)}\r\n`),
];

/** The same file with a setting changed, and with another covered setting. */
export async function changedConnections(result: Buffer): Promise<readonly Buffer[]> {
  const isUtf16 = result[0] === 0xff;
  const encoding = isUtf16 ? 'utf16le' : 'latin1';
  const text = result.toString(encoding);
  return [text.replace('3389', '3390'), `${text}audiomode:i:1\r\n`].map((changed) => Buffer.from(changed, encoding));
}
