import type { ByteSource } from '../../bytes/byte-source.ts';
import { bytesErrors } from '../../bytes/errors.ts';
import type { Edit, Patch } from '../../bytes/pieces.ts';
import { formatErrors } from '../../format/errors.ts';
import { rdpErrors } from './errors.ts';
import { ALTERNATE_FULL_ADDRESS, COVERED_SETTINGS, FULL_ADDRESS } from './settings.ts';

/** A file usually has about 3 KiB, or 20 KiB with a signature. */
const LIMIT = 1024 * 1024;
const BOM = '\ufeff';
export const SCOPE = 'signscope';
export const SIGNATURE = 'signature';
/** The version, the constant 1, and the length of the CMS signature (u32 each). */
const HEADER_LENGTH = 12;
const VERSION = 0x0001_0001;

export type Encoding = 'UTF-16LE' | 'UTF-8' | 'ANSI';

export interface RdpLayout {
  readonly encoding: Encoding;
  readonly hasBom: boolean;
  readonly text: string;
  readonly lineCount: number;
  readonly settings: ReadonlyMap<string, Line>;
  readonly cms: Uint8Array | undefined;
}

export interface Line {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly value: string;
}

export async function readLayout(source: ByteSource): Promise<RdpLayout> {
  const { size } = source;
  if (size > LIMIT) throw bytesErrors('file-too-large', { size, kind: 'connection files', limit: LIMIT });
  const { encoding, text } = decode(Buffer.from(await source.read(0, size)));
  rejectHidingCharacters(text);
  let lineCount = 0;
  const settings = new Map<string, Line>();
  const hasBom = text.startsWith(BOM);
  for (const { index, 0: whole } of text.slice(hasBom ? 1 : 0).matchAll(/[^\n]*(?:\n|$)/g)) {
    if (whole === '') break;
    const start = index + (hasBom ? 1 : 0);
    const line = whole.replace(/\r?\n$/, '');
    const [, name = '', value] = /^([^:]*):(?:[^:]*:(.*))?/s.exec(line) ?? [];
    const key = name.trim().toLowerCase();
    lineCount += 1;
    if (!/^[\x20-\x7e]*$/.test(name)) throw ambiguous(`the name in line ${lineCount} is not in ASCII`);
    if (!COVERED_SETTINGS.has(key) && key !== SCOPE && key !== SIGNATURE) continue;
    if (name !== name.trim()) throw ambiguous(`there are spaces around the name "${key}"`);
    if (value === undefined) throw ambiguous(`the line of "${key}" has no type or no value`);
    if (settings.has(key)) throw ambiguous(`there are two lines with the setting "${key}"`);
    settings.set(key, { start, end: start + whole.length, text: line, value });
  }
  return { encoding, hasBom, text, lineCount, settings, cms: readSignature(settings) };
}

/** Rejects characters at which some programs end a line or the file, because an unsigned line could hide a setting. */
function rejectHidingCharacters(text: string): void {
  // 0x80 to 0x9f are printable in Windows code pages. U+0085 is also a line ending.
  const found = /\r(?!\n)|(?![\t\r\n\x80-\x84\x86-\x9f])\p{Cc}|[\u2028\u2029]/u.exec(text);
  if (found === null) return;
  const unit = `U+${found[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
  const line = text.slice(0, found.index).split('\n').length;
  throw ambiguous(`line ${line} contains ${unit}, which some programs read as the end of a line`);
}

export function encode(text: string, encoding: Encoding): Buffer {
  return Buffer.from(text, encoding === 'ANSI' ? 'latin1' : encoding === 'UTF-8' ? 'utf8' : 'utf16le');
}

/** Unlike rdpsign, writes the Base64 without spaces. */
export function signatureValue(cms: Uint8Array): string {
  const header = Buffer.alloc(HEADER_LENGTH);
  header.writeUInt32LE(VERSION, 0);
  header.writeUInt32LE(1, 4);
  header.writeUInt32LE(cms.length, 8);
  return Buffer.concat([header, cms]).toString('base64');
}

function readSignature(settings: ReadonlyMap<string, Line>): Uint8Array | undefined {
  const [scope, signature] = [settings.get(SCOPE), settings.get(SIGNATURE)];
  if (scope === undefined && signature === undefined) return undefined;
  if (scope === undefined) throw damaged('it does not list the settings that it covers (signscope)');
  if (signature === undefined) throw damaged('there is a scope (signscope) without a signature');
  const base64 = signature.value.replaceAll(' ', '');
  if (base64.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) throw damaged('its text is not Base64');
  const bytes = Buffer.from(base64, 'base64');
  const isKnown = bytes.length > HEADER_LENGTH && bytes.readUInt32LE(0) === VERSION && bytes.readUInt32LE(4) === 1;
  if (!isKnown) throw damaged('its header is not the header of a signature');
  const length = bytes.readUInt32LE(8);
  const cms = bytes.subarray(HEADER_LENGTH);
  if (cms.length !== length) throw damaged(`its header says ${length} bytes, but ${cms.length} follow`);
  return Uint8Array.from(cms);
}

/** A text without a BOM that is not valid UTF-8 is read with one character per byte. */
function decode(bytes: Buffer): { readonly encoding: Encoding; readonly text: string } {
  const start = bytes.toString('latin1', 0, 3);
  if (start.startsWith('\xfe\xff')) throw unreadable('it is in UTF-16BE');
  const encoding = start.startsWith('\xff\xfe') ? 'UTF-16LE' : 'UTF-8';
  if (encoding === 'UTF-16LE' && bytes.length % 2 !== 0) throw unreadable('it is not valid UTF-16LE');
  const text = bytes.toString(encoding === 'UTF-8' ? 'utf8' : 'utf16le');
  if (text.includes('\0')) throw unreadable('it contains NUL characters: it may be in UTF-16 without a BOM');
  if (encode(text, encoding).equals(bytes)) return { encoding, text };
  if (text.startsWith(BOM)) throw unreadable(`it is not valid ${encoding}`);
  return { encoding: 'ANSI', text: bytes.toString('latin1') };
}

const unreadable = (problem: string) => rdpErrors('rdp-encoding', { problem });
const ambiguous = (problem: string) => rdpErrors('rdp-setting-ambiguous', { problem });
const damaged = (problem: string) => rdpErrors('rdp-signature-damaged', { problem });

export function newContent(layout: RdpLayout): Uint8Array {
  const { lines, scope } = newCoverage(layout);
  return contentOf(lines, scope);
}

export function presentContent(layout: RdpLayout): Uint8Array {
  const lines = namesInScope(layout).flatMap((name) => layout.settings.get(name)?.text ?? []);
  return contentOf(lines, layout.settings.get(SCOPE)?.text ?? '');
}

function contentOf(lines: readonly string[], scope: string): Uint8Array {
  return Buffer.from(`${[...lines, scope].join('\r\n')}\r\n\0`, 'utf16le');
}

function newCoverage({ settings, encoding, hasBom }: RdpLayout) {
  const address = settings.get(FULL_ADDRESS.toLowerCase());
  if (address === undefined) throw rdpErrors('rdp-address-missing');
  const added = settings.has(ALTERNATE_FULL_ADDRESS.toLowerCase())
    ? []
    : [`${ALTERNATE_FULL_ADDRESS}:s:${address.value}`];
  const covered = [...COVERED_SETTINGS].flatMap(([key, name]) => {
    const line = settings.get(key)?.text ?? (name === ALTERNATE_FULL_ADDRESS ? added[0] : undefined);
    return line === undefined ? [] : [{ name, line }];
  });
  const lines = covered.map(({ line }) => line);
  if (!hasBom && lines.some((line) => !/^[\0-\x7f]*$/.test(line))) {
    const problem = `a signed setting contains non-ASCII characters, but the file has no BOM (this program reads it as ${encoding})`;
    throw rdpErrors('rdp-encoding', { problem });
  }
  return { lines, added, scope: `SignScope:s:${covered.map(({ name }) => name).join(',')}` };
}

/** Limits the number of names, because a hostile scope can be long. */
export function namesInScope({ settings }: RdpLayout): readonly string[] {
  const names = (settings.get(SCOPE)?.value ?? '').split(',', COVERED_SETTINGS.size + 1);
  return names.map((name) => name.trim().toLowerCase());
}

/** Makes `cms` the only signature. Writing the same signature again must change nothing. */
export function writeSignature(layout: RdpLayout, cms: Uint8Array): Patch {
  const { added, scope } = newCoverage(layout);
  const lines = [...added, scope, `Signature:s:${signatureValue(cms)}`].map((line) => `${line}\r\n`);
  return replaceSignature(layout, lines.join(''));
}

export function replaceSignature({ text, encoding, settings }: RdpLayout, lines: string): Patch {
  const offsetOf = (position: number) => encode(text.slice(0, position), encoding).length;
  const going = [SCOPE, SIGNATURE]
    .flatMap((name) => settings.get(name) ?? [])
    .toSorted((one, other) => one.start - other.start);
  const edits: Edit[] = going.map(({ start, end }) => {
    const offset = offsetOf(start);
    return { offset, remove: offsetOf(end) - offset, insert: [] };
  });
  const rest = going.toReversed().reduce((left, { start, end }) => left.slice(0, start) + left.slice(end), text);
  const separator = lines === '' || rest.endsWith('\n') ? '' : '\r\n';
  const end = encode(text, encoding).length;
  return lines === '' ? edits : [...edits, { offset: end, remove: 0, insert: [encode(separator + lines, encoding)] }];
}

/** Keeps the line with the scope, because the signature covers it. */
export function replaceValue({ text, encoding, settings }: RdpLayout, cms: Uint8Array): Patch {
  const line = settings.get(SIGNATURE);
  if (line === undefined) throw formatErrors('not-signed');
  const end = line.start + line.text.length;
  const offsetOf = (position: number) => encode(text.slice(0, position), encoding).length;
  const offset = offsetOf(end - line.value.length);
  return [{ offset, remove: offsetOf(end) - offset, insert: [encode(signatureValue(cms), encoding)] }];
}
