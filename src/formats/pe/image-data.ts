import {
  SPC_INDIVIDUAL_PURPOSE,
  SPC_PAGE_HASHES_V1,
  SPC_PAGE_HASHES_V2,
  SPC_PE_IMAGE_DATA,
} from '../../asn1/object-identifiers.ts';
import { type Element, fieldsOf, objectIdentifierOf, octetsOf, onlyPart, parts, readElement } from '../../asn1/read.ts';
import { bitString, contextConstructed, objectIdentifier, octetString, sequence, setOf } from '../../asn1/write.ts';
import type { SignedKind } from '../../authenticode/container.ts';
import { classOf, readLink, spcUnicode } from '../../authenticode/spc-structures.ts';
import { attempt, CodesignError } from '../../errors/codesign-error.ts';
import { broken, type Finding } from '../../errors/finding.ts';
import type { Detail } from '../../format/signature.ts';
import type { ProgramKind } from './layout.ts';

const FLAGS: readonly (readonly [bit: number, name: string])[] = [
  [0x80, 'includeResources'],
  [0x40, 'includeDebugInfo'],
  [0x20, 'includeImportAddressTable'],
];
/** IMAGE_SUBSYSTEM_EFI_APPLICATION to IMAGE_SUBSYSTEM_EFI_ROM. */
const EFI_SUBSYSTEMS: readonly number[] = [10, 11, 12, 13];
/** Class identifier of an SpcSerializedObject that contains page hashes. */
const PAGE_HASHES_CLASS = 'a6b586d5b4a12466ae05a217da8e60d6';
const PAGE_HASHES: ReadonlyMap<string, PageDigest> = new Map([
  [SPC_PAGE_HASHES_V1, 'SHA1'],
  [SPC_PAGE_HASHES_V2, 'SHA256'],
]);

export type PageDigest = 'SHA1' | 'SHA256';

export interface PageHashes {
  readonly type: string;
  readonly algorithm: PageDigest | undefined;
  readonly list: Uint8Array;
}

/** Some EFI programs signed by Debian have the data type SPC_INDIVIDUAL_PURPOSE, which firmware does not read. */
export function signedKindOf({ subsystem }: ProgramKind): SignedKind {
  return {
    dataType: SPC_PE_IMAGE_DATA,
    toleratedType: EFI_SUBSYSTEMS.includes(subsystem) ? SPC_INDIVIDUAL_PURPOSE : undefined,
    value: IMAGE_DATA,
  };
}

export const IMAGE_DATA = { name: 'image data', examine, describe } as const;

/**
 * According to the specification, the flags are empty, and the link contains page hashes or the text `<<<Obsolete>>>`.
 */
export function spcPeImageData(pageHashes?: Uint8Array): Uint8Array {
  const link =
    pageHashes === undefined
      ? contextConstructed(2, spcUnicode('<<<Obsolete>>>'))
      : contextConstructed(
          1,
          octetString(Buffer.from(PAGE_HASHES_CLASS, 'hex')),
          octetString(setOf(sequence(objectIdentifier(SPC_PAGE_HASHES_V2), setOf(octetString(pageHashes))))),
        );
  return sequence(bitString(new Uint8Array()), contextConstructed(0, link));
}

function examine(value: Element | undefined): readonly Finding[] {
  if (value === undefined) {
    const message = 'The signature has no SpcPeImageData, which says that it is for a program.';
    return [broken('signed-kind-malformed', message)];
  }
  const read = attempt(() => readPeImageData(value));
  if (!(read instanceof CodesignError)) return [];
  return [broken('signed-kind-malformed', `The SpcPeImageData of the signature cannot be read: ${read.message}.`)];
}

function describe(value: Element): readonly Detail[] {
  const { flags, link, pageHashes } = readPeImageData(value);
  const names = pageHashes.map(({ algorithm, type }) => algorithm ?? type);
  return [
    { name: 'image data flags', value: flags.length === 0 ? 'none' : flags.join(', ') },
    ...(link && names.length === 0 ? [{ name: 'image data link', value: link }] : []),
    ...(names.length === 0 ? [] : [{ name: 'page hashes', value: names.join(', ') }]),
  ];
}

export function readPeImageData(value: Element) {
  const what = 'SpcPeImageData';
  const fields = fieldsOf(value, 0x30, what);
  const bits = fields.optional(0x03)?.contents[1] ?? 0;
  const file = fields.optional(0xa0);
  fields.end();
  const link = file && onlyPart(file, what);
  return {
    flags: FLAGS.filter(([bit]) => (bits & bit) !== 0).map(([, name]) => name),
    link: link && readLink(link),
    pageHashes: link?.tag === 0xa1 ? readPageHashes(link) : [],
  };
}

function readPageHashes(link: Element): readonly PageHashes[] {
  const what = 'page hashes';
  const object = fieldsOf(link, 0xa1, what);
  const objectClass = classOf(object.next(0x04, 'class'));
  if (objectClass !== PAGE_HASHES_CLASS) {
    return [{ type: `class ${objectClass}`, algorithm: undefined, list: new Uint8Array() }];
  }
  const serialized = readElement(octetsOf(object.any('data'), what), what);
  return parts(serialized, what).map((attribute) => {
    const fields = fieldsOf(attribute, 0x30, what);
    const type = objectIdentifierOf(fields.next(0x06, 'type'), what);
    const list = octetsOf(onlyPart(fields.next(0x31, 'list'), what), what);
    return { type, algorithm: PAGE_HASHES.get(type), list };
  });
}
