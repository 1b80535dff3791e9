import type { ByteSource } from '../../bytes/byte-source.ts';
import type { CodesignError } from '../../errors/codesign-error.ts';
import { scriptErrors } from './errors.ts';
import type { ScriptKind } from './kinds.ts';

export type Encoding = 'ASCII' | 'UTF-8' | 'UTF-16LE' | 'UTF-16BE';

export interface ScriptText {
  readonly encoding: Encoding;
  readonly bomLength: number;
  readonly text: string;
}

/** The whole text is read into memory. */
const LIMIT = 16 * 1024 * 1024;
/** Without a BOM, PowerShell examines this many bytes to tell UTF-8 from the code page. */
const EXAMINED = 32;
const BOMS: readonly (readonly [Encoding, readonly number[]])[] = [
  ['UTF-16LE', [0xff, 0xfe]],
  ['UTF-16BE', [0xfe, 0xff]],
  ['UTF-8', [0xef, 0xbb, 0xbf]],
];

export async function readScriptText(source: ByteSource, kind: ScriptKind): Promise<ScriptText> {
  const { size } = source;
  if (size > LIMIT) throw scriptErrors('script-too-large', { size, limit: LIMIT });
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

export function encodedLength(text: string, encoding: Encoding): number {
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

function unreadable(problem: string): CodesignError {
  return scriptErrors('script-encoding', { problem });
}
