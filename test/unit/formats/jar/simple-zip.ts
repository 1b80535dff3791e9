/** ZIP archives for tests, put together and taken apart by programs that share nothing with src/zip. */

import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib';
import { type ArchiveParts, buildZip, DEFLATED, type EntryParts, STORED } from '../../zip/support/zip-builder.ts';

export interface SimpleEntry {
  readonly name: string;
  readonly contents?: string | Uint8Array;
  readonly isStored?: boolean;
  readonly extra?: Uint8Array;
  readonly flags?: number;
  /** What both records say the size is, whatever it is. */
  readonly size?: number;
  /** Bytes before its record. */
  readonly gap?: Uint8Array;
}

export const MANIFEST = 'META-INF/MANIFEST.MF';

/** From this number of entries on, a ZIP64 end record counts them (APPNOTE 4.4.21). */
const MANY_ENTRIES = 0xffff;

/** `around`: what is in the archive beside its entries. */
export function zip(entries: readonly SimpleEntry[], around: Omit<ArchiveParts, 'entries'> = {}): Buffer {
  return buildZip({ entries: entries.map(describeEntry), zip64: entries.length >= MANY_ENTRIES, ...around });
}

const UTF8_NAME = 0x0800;

function describeEntry({ name, contents = '', isStored = false, extra, ...more }: SimpleEntry): EntryParts {
  const bytes = Buffer.from(contents);
  return {
    // NuGet accepts only a signature entry with version 20.
    ...{ name, version: 20, crc: crc32(bytes), size: bytes.length, flags: UTF8_NAME, ...more },
    method: isStored ? STORED : DEFLATED,
    data: isStored ? bytes : deflateRawSync(bytes),
    ...(extra && { extra: { local: Buffer.from(extra), central: Buffer.from(extra) } }),
  };
}

/** In the directory's order. Only for archives without comment, preamble and ZIP64. */
export function unzip(bytes: Buffer): readonly { readonly name: string; readonly contents: Buffer }[] {
  const end = bytes.length - 22;
  if (bytes.readUInt32LE(end) !== 0x06054b50) throw new Error('this is no simple archive');
  let at = bytes.readUInt32LE(end + 16);
  return Array.from({ length: bytes.readUInt16LE(end + 10) }, () => {
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((field) => bytes.readUInt16LE(at + field));
    const local = bytes.readUInt32LE(at + 42);
    const start = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
    const data = bytes.subarray(start, start + bytes.readUInt32LE(at + 20));
    const contents = bytes.readUInt16LE(at + 10) === 0 ? data : inflateRawSync(data);
    const name = bytes.toString('utf8', at + 46, at + 46 + (nameLength ?? 0));
    at += 46 + (nameLength ?? 0) + (extraLength ?? 0) + (commentLength ?? 0);
    return { name, contents };
  });
}

/** The contents of one entry. Throws if there is none of that name. */
export function contentsOf(archive: Buffer, name: string): Buffer {
  const found = unzip(archive).find((entry) => entry.name === name);
  if (found === undefined) throw new Error(`there is no ${name}`);
  return found.contents;
}

export const namesIn = (archive: Buffer): readonly string[] => unzip(archive).map(({ name }) => name);

/** A JAR with this manifest, and files of which each contains its name. */
export const jarOf = (manifest: string, ...files: readonly (string | SimpleEntry)[]): Buffer =>
  zip([
    { name: MANIFEST, contents: manifest },
    ...files.map((file) => (typeof file === 'string' ? { name: file, contents: file } : file)),
  ]);

export const renamed = (archive: Buffer, from: string | RegExp, to: string): Buffer =>
  zip(unzip(archive).map(({ name, contents }) => ({ name: name.replace(from, to), contents })));

export function withManifest(archive: Buffer, change: (text: string) => string): Buffer {
  const before = contentsOf(archive, MANIFEST).toString();
  const after = change(before);
  if (after === before) throw new Error('the manifest was not changed');
  return repack(archive, { [MANIFEST]: after });
}

/** The archive packed again with other contents (undefined: without the entry), and more entries at its end. */
export function repack(
  archive: Buffer,
  changes: Readonly<Record<string, string | Uint8Array | undefined>>,
  more: readonly SimpleEntry[] = [],
): Buffer {
  const kept = unzip(archive).flatMap(({ name, contents }) => {
    const changed = name in changes ? changes[name] : contents;
    return changed === undefined ? [] : [{ name, contents: changed }];
  });
  return zip([...kept, ...more]);
}

/** With other contents of the first and of the last file that a signature covers. */
export async function changedEntries(archive: Buffer): Promise<readonly Buffer[]> {
  const names = namesIn(archive).filter((name) => !/\/$|^meta-inf\/[^/]*$/i.test(name));
  return [names[0], names.at(-1)].map((name = '') => repack(archive, { [name]: 'other contents' }));
}

/** An APK Signing Block (Android, "APK Signature Scheme v2") with one pair of this value. */
export function apkSigningBlock(value: Uint8Array): Buffer {
  const pair = Buffer.alloc(12);
  pair.writeBigUInt64LE(BigInt(4 + value.length));
  pair.writeUInt32LE(0x7109871a, 8);
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(pair.length + value.length + 24));
  return Buffer.concat([size, pair, value, size, Buffer.from('APK Sig Block 42')]);
}
