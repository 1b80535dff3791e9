/** The builder of the fixtures with types: archives put together by hand, with every field as a test wants it. */

type EntryField = 'flags' | 'method' | 'crc' | 'size' | 'compressedSize';
type EntryFields = Readonly<Partial<Record<EntryField, number>>>;
type Zip64Value = 'size' | 'compressedSize' | 'offset';

/** See `describeEntry` of the builder. */
export interface EntryParts extends EntryFields {
  readonly name: string | Buffer;
  readonly contents?: string | Uint8Array;
  readonly data?: Uint8Array;
  readonly descriptor?: 'signed' | 'bare' | 'signed64' | 'bare64';
  readonly mode?: number;
  readonly comment?: string | Uint8Array;
  readonly extra?: { readonly local?: Buffer; readonly central?: Buffer };
  readonly zip64?: { readonly local?: readonly Zip64Value[]; readonly central?: readonly Zip64Value[] };
  readonly local?: EntryFields & { readonly name?: string };
  readonly central?: EntryFields & { readonly offset?: number };
  readonly gap?: string | Uint8Array;
  readonly hidden?: boolean;
  readonly offset?: (offsetOf: readonly number[]) => number;
}

type EndField = 'disk' | 'directoryDisk' | 'diskCount' | 'count' | 'directorySize' | 'directoryOffset';

/** See `buildZip`. */
export interface ArchiveParts {
  readonly entries: readonly EntryParts[];
  readonly localOrder?: readonly number[];
  readonly preamble?: string | Uint8Array;
  readonly offsets?: 'file' | 'archive';
  readonly gap?: string | Uint8Array;
  readonly comment?: string | Uint8Array;
  readonly trailing?: string | Uint8Array;
  readonly zip64?: boolean;
  readonly zip64Data?: string | Uint8Array;
  readonly end?: Readonly<Partial<Record<EndField, number>>>;
}

interface ZipBuilder {
  readonly buildZip: (parts: ArchiveParts) => Buffer;
  readonly localRecord: (entry: EntryParts) => Buffer;
  readonly extraField: (id: number, data: string | Uint8Array) => Buffer;
}

const builder = (await import(new URL('../../../../fixtures/zip-builder.mjs', import.meta.url).href)) as ZipBuilder;
export const { buildZip, localRecord, extraField } = builder;

export const STORED = 0;
export const DEFLATED = 8;

export function stored(name: string, about: Omit<EntryParts, 'name'> = {}): EntryParts {
  return { name, contents: `This is ${name}.\n`, method: STORED, ...about };
}

export function deflated(name: string, about: Omit<EntryParts, 'name'> = {}): EntryParts {
  return { name, contents: `This is ${name}.\n`, method: DEFLATED, ...about };
}
