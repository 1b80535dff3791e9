/** Scripts that can be signed, and scripts that must be rejected, each with the reason. */

import { flipped } from '../../../support/flipped.ts';
import type { Fixture } from '../support/fixtures.ts';

const TEXT = 'Write-Output "x"\r\nGet-Date\r\n';
const UTF8_BOM = Buffer.of(0xef, 0xbb, 0xbf);
const NON_ASCII = `# Gr\u00fc\u00dfe \u2603\r\n${TEXT}`;
const BLOCK = '\r\n# SIG # Begin signature block\r\n# AAAA\r\n# SIG # End signature block\r\n';
const JS = "WScript.Echo('x');\r\n";
const JS_BLOCK = '\r\n// SIG // Begin signature block\r\n// SIG // AAAA\r\n// SIG // End signature block\r\n';
const WSF = '<job><script language="JScript">WScript.Echo(1);</script></job>\r\n';

const utf16le = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le');
const utf16be = (text: string) => utf16le(text).swap16();

const bytesOf = (content: string | Buffer) => (typeof content === 'string' ? Buffer.from(content) : content);

type Sample = readonly [name: string, what: string, content: string | Buffer];

function good([name, what, content]: Sample): Fixture {
  return { name, what, bytes: bytesOf(content), appendCode: 'cannot-append' };
}

function malformed(code: string, ...[name, what, content]: Sample): Fixture {
  return { name, what, bytes: bytesOf(content), code };
}

export const GOOD_POWERSHELL: readonly Fixture[] = (
  [
    ['ascii.ps1', 'ASCII without a BOM', TEXT],
    ['lf.ps1', 'line ends of Linux, and none at the end', 'a\nb'],
    ['utf8.ps1', 'UTF-8 that shows in the first 32 bytes', NON_ASCII],
    ['bom.ps1', 'UTF-8 with a BOM', Buffer.concat([UTF8_BOM, Buffer.from(`${TEXT}# \u2603\r\n`)])],
    ['utf16.ps1', 'UTF-16LE with a BOM', utf16le(NON_ASCII)],
  ] as const
).map(good);

/** With another text in the place of that, after a script. */
const blockWith = (from: string, to: string) => `${TEXT}${BLOCK}`.replaceAll(from, to);
const INVALID = Buffer.concat([UTF8_BOM, Buffer.of(0xff, 0x20)]);
const ODD = Buffer.concat([utf16le(TEXT), Buffer.of(0x78)]);
const allOf = (code: string, ...samples: readonly Sample[]) => samples.map((sample) => malformed(code, ...sample));

export const MALFORMED_POWERSHELL: readonly Fixture[] = [
  ...allOf(
    'script-empty',
    ['empty.ps1', 'nothing', ''],
    ['only-bom.ps1', 'a BOM alone', UTF8_BOM],
    ['only-block.ps1', 'a block alone', BLOCK],
  ),
  ...allOf(
    'script-encoding',
    ['utf16be.ps1', 'UTF-16BE', utf16be(TEXT)],
    ['late.ps1', 'the first character beyond ASCII after byte 32', `${TEXT}${TEXT}# \u2603\r\n`],
    ['cut.ps1', 'a character across byte 32', `${'#'.repeat(31)}\u00fc\r\n`],
    ['ansi.ps1', 'Windows-1252', Buffer.from('# Gr\u00fc\u00dfe\r\n', 'latin1')],
    ['broken.ps1', 'a BOM of UTF-8 and invalid UTF-8', INVALID],
    ['odd.ps1', 'UTF-16LE with an odd byte', ODD],
    ['surrogate.ps1', 'half a character', utf16le('# \ud800 \r\n')],
    ['nul.ps1', 'a NUL', 'a\0b\r\n'],
  ),
  malformed('file-too-large', 'large.ps1', 'more than 16 MiB', Buffer.alloc(16 * 1024 * 1024 + 1)),
  ...allOf(
    'script-block-damaged',
    ['begin.ps1', 'a block that does not end', `${TEXT}\r\n# SIG # Begin signature block\r\n# AAAA\r\n`],
    ['end.ps1', 'an end alone', `${TEXT}# SIG # End signature block\r\n`],
    ['string.ps1', 'the words of a block in a string', `$x = "# SIG # Begin signature block"\r\n`],
    ['after.ps1', 'code after the block', `${TEXT}${BLOCK}Get-Date\r\n`],
    ['lines.ps1', 'three characters of line ends after the block', `${TEXT}${BLOCK}\n`],
    ['two.ps1', 'two blocks', `${TEXT}${BLOCK}${BLOCK}`],
    ['unix.ps1', 'a block with line ends of Linux', blockWith('\r', '')],
    ['base64.ps1', 'a block that is not Base64', blockWith('AAAA', 'A?AA')],
    ['line.ps1', 'a line of code in the block', blockWith('# AAAA', 'exit')],
  ),
];

export const GOOD_WSH: readonly Fixture[] = (
  [
    ['ascii.js', 'JScript in ASCII', JS],
    ['bom.js', 'JScript in UTF-8 with a BOM', Buffer.concat([UTF8_BOM, Buffer.from(`// \u2603\n${JS}`)])],
    ['le.js', 'JScript in UTF-16LE', utf16le(`// \u2603\r\n${JS}`)],
    ['be.js', 'JScript in UTF-16BE', utf16be(`// \u2603\r\n${JS}`)],
  ] as const
).map(good);

export const MALFORMED_WSH: readonly Fixture[] = [
  malformed('script-empty', 'empty.vbs', 'nothing', ''),
  malformed('script-encoding', 'utf8.js', 'UTF-8 without a BOM', `// \u2603\r\n${JS}`),
  malformed('script-block-damaged', 'after.js', 'code after the block', `${JS}${JS_BLOCK}${JS}`),
  malformed('script-block-damaged', 'cut.js', 'a block without its last line end', `${JS}${JS_BLOCK}`.slice(0, -2)),
];

/** For Windows Script files, which no other sample is. */
export const WSF_WITHOUT_JOB = Buffer.from(WSF.replaceAll('job>', 'package>'));
export const WSF_WITH_JOBS = Buffer.from(`<package>\r\n${WSF}${WSF}</package>\r\n`);

/** Where the low byte of the first character is, by the first byte of a file with a BOM. */
const FIRST_CHARACTER: Readonly<Record<number, number>> = { 255: 2, 254: 3, 239: 3 };

/** The same script with its first character changed. */
export const changedScripts = async (result: Buffer) => [flipped(result, FIRST_CHARACTER[result[0] ?? 0] ?? 0)];
