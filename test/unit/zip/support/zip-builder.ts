/** The builder of the fixtures with types: archives put together by hand, with every field as a test wants it. */

export interface EntryFields {
  readonly name?: string | Buffer;
  readonly flags?: number;
  readonly method?: number;
  readonly crc?: number;
  readonly size?: number;
  readonly compressedSize?: number;
  /** Of the directory's record alone. */
  readonly offset?: number;
}

export type Zip64Value = 'size' | 'compressedSize' | 'offset';

export interface EntryParts extends Omit<EntryFields, 'offset'> {
  readonly name: string | Buffer;
  readonly contents?: string | Uint8Array;
  /** Instead of the compressed contents. */
  readonly data?: Uint8Array;
  readonly descriptor?: 'signed' | 'bare' | 'signed64' | 'bare64';
  readonly mode?: number;
  readonly comment?: string | Uint8Array;
  readonly extra?: { readonly local?: Buffer; readonly central?: Buffer };
  /** The fields to move into the ZIP64 field. */
  readonly zip64?: { readonly local?: readonly Zip64Value[]; readonly central?: readonly Zip64Value[] };
  readonly local?: EntryFields;
  readonly central?: EntryFields;
  /** Bytes before its record. */
  readonly gap?: string | Uint8Array;
  /** Not in the directory. */
  readonly hidden?: boolean;
  /** No record of its own: gives the offset from those of the others. */
  readonly offset?: (offsetOf: readonly number[]) => number;
}

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
  readonly end?: {
    readonly disk?: number;
    readonly directoryDisk?: number;
    readonly diskCount?: number;
    readonly count?: number;
    readonly directorySize?: number;
    readonly directoryOffset?: number;
  };
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

/** An entry that is stored, with a line as its contents. */
export function stored(name: string, about: Omit<EntryParts, 'name'> = {}): EntryParts {
  return { name, contents: `This is ${name}.\n`, method: STORED, ...about };
}

/** The same, deflated. */
export function deflated(name: string, about: Omit<EntryParts, 'name'> = {}): EntryParts {
  return { name, contents: `This is ${name}.\n`, method: DEFLATED, ...about };
}
