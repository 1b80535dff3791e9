import type { ByteSource } from '../../bytes/byte-source.ts';
import { bytesErrors } from '../../bytes/errors.ts';
import { scriptErrors } from './errors.ts';
import type { ScriptKind } from './kinds.ts';

export interface ScriptLayout {
  readonly kind: ScriptKind;
  readonly encoding: Encoding;
  readonly bomLength: number;
  /** Offset of the block in the text without its BOM, in UTF-16 code units. */
  readonly position: number;
  /** Range of the block in the file. Without a block, the range is empty. */
  readonly start: number;
  readonly end: number;
  readonly cms: Uint8Array | undefined;
  readonly covered: readonly [string, string];
  readonly lineEnds: 'CRLF' | 'LF' | 'CR' | 'mixed' | 'none';
}

export async function readLayout(source: ByteSource, kind: ScriptKind): Promise<ScriptLayout> {
  const { text, encoding, bomLength } = await readScriptText(source, kind);
  const block = findBlock(text, kind);
  const position = block?.position ?? newPosition(text, kind);
  const endPosition = block?.end ?? position;
  if (position === 0 && endPosition === text.length) throw scriptErrors('script-empty');
  const start = bomLength + encodedLength(text.slice(0, position), encoding);
  return {
    kind,
    encoding,
    bomLength,
    position,
    start,
    end: start + encodedLength(text.slice(position, endPosition), encoding),
    cms: block?.cms,
    covered: [text.slice(0, position), text.slice(endPosition)],
    lineEnds: lineEndsOf(text.slice(0, position)),
  };
}

export function blockOf(cms: Uint8Array, { kind, encoding }: ScriptLayout): Uint8Array {
  const { begin, end, prefix, suffix, width } = kind;
  const base64 = Buffer.from(cms).toString('base64');
  const lines: string[] = [];
  for (let at = 0; at < base64.length; at += width) lines.push(`${prefix}${base64.slice(at, at + width)}${suffix}`);
  return encodeText(['', begin, ...lines, end, ''].join('\r\n'), encoding);
}

const LONGEST_BLOCK = 1024 * 1024;

/**
 * Windows reads the last block if its lines end with CRLF and at most one line ending follows the block. Rejects any
 * other text that looks like a block, because verifiers disagree on such a text.
 */
function findBlock(text: string, kind: ScriptKind) {
  const { begin, end } = kind;
  const position = text.lastIndexOf(`\r\n${begin}\r\n`);
  if (position < 0) {
    const stray = kind.markers.find((marker) => text.includes(marker));
    if (stray === undefined) return undefined;
    throw damaged(`it contains "${stray}", but no complete block with Windows line endings (CRLF)`);
  }
  const firstLine = position + begin.length + 4;
  const lastLine = text.indexOf(`\r\n${end}`, firstLine - 2);
  if (lastLine < 0) throw damaged('its end is missing');
  if (lastLine - firstLine > LONGEST_BLOCK) throw damaged(`it has ${lastLine - firstLine} characters`);
  const rest = lastLine + 2 + end.length;
  const after = text.slice(rest);
  if (!followsBlock(after, kind)) throw damaged('more text follows its end');
  const around = text.slice(0, position) + after;
  if (kind.markers.some((marker) => around.includes(marker))) throw damaged('there is more than one block');
  return {
    position,
    end: kind.family === 'powershell' ? text.length : rest + 2,
    cms: decodeLines(text.slice(firstLine, Math.max(firstLine, lastLine)), kind),
  };
}

function followsBlock(after: string, { family, before }: ScriptKind): boolean {
  if (before !== undefined) return after.startsWith('\r\n') && after.lastIndexOf(before) >= 0;
  return family === 'powershell' ? /^[\r\n]{0,2}$/.test(after) : after === '\r\n';
}

function decodeLines(body: string, { prefix, suffix }: ScriptKind): Uint8Array {
  const base64 = body
    .split('\r\n')
    .filter((line) => line !== '')
    .map((line) => {
      const isComment = line.startsWith(prefix) && line.endsWith(suffix);
      if (!isComment) throw damaged('it contains a line that does not belong to a signature');
      return line.slice(prefix.length, line.length - suffix.length);
    })
    .join('');
  if (base64 === '' || base64.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) {
    throw damaged('its text is not Base64');
  }
  return Buffer.from(base64, 'base64');
}

function newPosition(text: string, { before }: ScriptKind): number {
  if (before === undefined) return text.length;
  const position = text.lastIndexOf(before);
  if (position < 0) throw scriptErrors('script-job-missing');
  return position;
}

const LINE_ENDS = [
  ['CRLF', /\r\n/],
  ['LF', /(?<!\r)\n/],
  ['CR', /\r(?!\n)/],
] as const;

/** Does not list all line endings, because a script may consist of 16 MiB of line endings. */
function lineEndsOf(text: string): ScriptLayout['lineEnds'] {
  const found = LINE_ENDS.filter(([, pattern]) => pattern.test(text)).map(([name]) => name);
  return found.length > 1 ? 'mixed' : (found[0] ?? 'none');
}

const damaged = (problem: string) => scriptErrors('script-block-damaged', { problem });

export type Encoding = 'ASCII' | 'UTF-8' | 'UTF-16LE' | 'UTF-16BE';

const LIMIT = 16 * 1024 * 1024;
/** In a file without a BOM, PowerShell recognises UTF-8 only by these first bytes. */
const EXAMINED = 32;
const BOMS: readonly (readonly [Encoding, readonly number[]])[] = [
  ['UTF-16LE', [0xff, 0xfe]],
  ['UTF-16BE', [0xfe, 0xff]],
  ['UTF-8', [0xef, 0xbb, 0xbf]],
];

async function readScriptText(source: ByteSource, kind: ScriptKind) {
  const { size } = source;
  if (size > LIMIT) throw bytesErrors('file-too-large', { size, kind: 'scripts', limit: LIMIT });
  const bytes = await source.read(0, size);
  const bom = BOMS.find(([, start]) => start.every((byte, index) => bytes[index] === byte));
  const bomLength = bom?.[1].length ?? 0;
  const encoding = bom?.[0] ?? withoutBom(bytes, kind);
  if (encoding === 'UTF-16BE' && kind.family === 'powershell') {
    throw unreadable('it is in UTF-16BE, which Windows does not accept in signed PowerShell files');
  }
  const text = decode(bytes.subarray(bomLength), encoding);
  if (text === '') throw scriptErrors('script-empty');
  if (text.includes('\0')) throw unreadable('it contains NUL characters: it may be in UTF-16 without a BOM');
  return { encoding, bomLength, text };
}

function encodedLength(text: string, encoding: Encoding): number {
  return Buffer.byteLength(text, NODE_NAMES[encoding]);
}

export function encodeText(text: string, encoding: Encoding): Uint8Array {
  const bytes = Buffer.from(text, NODE_NAMES[encoding]);
  return encoding === 'UTF-16BE' ? bytes.swap16() : bytes;
}

const NODE_NAMES = { ASCII: 'latin1', 'UTF-8': 'utf8', 'UTF-16LE': 'utf16le', 'UTF-16BE': 'utf16le' } as const;

function withoutBom(bytes: Uint8Array, { family }: ScriptKind): Encoding {
  if (bytes.every((byte) => byte < 0x80)) return 'ASCII';
  if (family === 'powershell' && showsUtf8(bytes.subarray(0, EXAMINED))) return 'UTF-8';
  throw unreadable(
    'it contains non-ASCII characters but no BOM, so their meaning depends on the code page of the machine',
  );
}

function showsUtf8(head: Uint8Array): boolean {
  if (head.every((byte) => byte < 0x80)) return false;
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(head);
    return true;
  } catch {
    return false;
  }
}

function decode(bytes: Uint8Array, encoding: Encoding): string {
  if (encoding === 'ASCII') return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
  try {
    return new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw unreadable(`it is not valid ${encoding}`);
  }
}

const unreadable = (problem: string) => scriptErrors('script-encoding', { problem });
