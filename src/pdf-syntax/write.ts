import type { PdfDictionary, PdfReference } from './values.ts';

export function reference({ number, generation }: Omit<PdfReference, 'kind'>): string {
  return `${number} ${generation} R`;
}

/** Writes ASCII text as a literal string, and other text as UTF-16BE with a byte order mark (7.9.2.2). */
export function textString(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return `(${text.replace(/[()\\]/g, '\\$&')})`;
  return `<FEFF${Buffer.from(text, 'utf16le').swap16().toString('hex').toUpperCase()}>`;
}

export function dateString(time: Date): string {
  return `(D:${time.toISOString().replace(/\D/g, '').slice(0, 14)}Z)`;
}

const latin1 = (text: string): Uint8Array => Buffer.from(text, 'latin1');

/**
 * Replaces the encoded values of the given keys, and removes keys whose new value is undefined. All other entries stay
 * the same, byte for byte.
 */
export function dictionaryWith(
  { raw }: Pick<PdfDictionary, 'raw'>,
  changes: Readonly<Record<string, string | Uint8Array | undefined>>,
): Buffer {
  const parts: Uint8Array[] = [latin1('<<')];
  for (const [key, value] of new Map<string, string | Uint8Array | undefined>([...raw, ...Object.entries(changes)])) {
    if (value === undefined) continue;
    parts.push(latin1(` /${writtenName(key)} `), typeof value === 'string' ? latin1(value) : value);
  }
  return Buffer.concat([...parts, latin1(' >>')]);
}

export function arrayWith(raw: Uint8Array, item: string): Buffer {
  return Buffer.concat([raw.subarray(0, -1), latin1(` ${item}]`)]);
}

function writtenName(name: string): string {
  return name.replace(
    /[^!"$&'*-.0-;=?-Z\\^-z|~]/g,
    (character) => `#${character.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
}
