import type { ByteSource } from '../../bytes/byte-source.ts';
import type { CodesignError } from '../../errors/codesign-error.ts';
import { scriptErrors } from './errors.ts';
import type { ScriptKind } from './kinds.ts';
import { type Encoding, encodedLength, encodeText, readScriptText } from './text.ts';

export interface ScriptLayout {
  readonly kind: ScriptKind;
  readonly encoding: Encoding;
  readonly bomLength: number;
  /** Offset of the block in UTF-16 units of the text without its BOM. */
  readonly position: number;
  /** Range of the block in bytes; empty without a block. */
  readonly start: number;
  readonly end: number;
  readonly cms: Uint8Array | undefined;
  /** Texts before and after the block, without the BOM. */
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

/** Base64 lines are as long as those of Microsoft's tools. */
export function blockOf(cms: Uint8Array, { kind, encoding }: ScriptLayout): Uint8Array {
  const { begin, end, prefix, suffix, width } = kind;
  const base64 = Buffer.from(cms).toString('base64');
  const lines: string[] = [];
  for (let at = 0; at < base64.length; at += width) lines.push(`${prefix}${base64.slice(at, at + width)}${suffix}`);
  return encodeText(['', begin, ...lines, end, ''].join('\r\n'), encoding);
}

/** Blocks have up to 30,000 characters. A much longer one would need too much memory. */
const LONGEST_BLOCK = 1024 * 1024;

interface Block {
  readonly position: number;
  readonly end: number;
  readonly cms: Uint8Array;
}

/**
 * Windows reads the last block if its lines end with CRLF and at most one line ending follows. Anything else like a
 * block is rejected, because verifiers disagree about it.
 */
function findBlock(text: string, kind: ScriptKind): Block | undefined {
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
      if (line.startsWith(prefix) && line.endsWith(suffix))
        return line.slice(prefix.length, line.length - suffix.length);
      throw damaged('it contains a line that does not belong to a signature');
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

/** A script of 16 MiB may consist only of line endings. */
function lineEndsOf(text: string): ScriptLayout['lineEnds'] {
  const found = (
    [
      ['CRLF', /\r\n/],
      ['LF', /(?<!\r)\n/],
      ['CR', /\r(?!\n)/],
    ] as const
  ).filter(([, pattern]) => pattern.test(text));
  const [only] = found;
  if (only === undefined) return 'none';
  return found.length > 1 ? 'mixed' : only[0];
}

function damaged(problem: string): CodesignError {
  return scriptErrors('script-block-damaged', { problem });
}
