/** Creates catalogs of version 2, with the attributes that Microsoft's programs write. */

import { createHash } from 'node:crypto';
import {
  CATALOG_LIST,
  CATALOG_MEMBER_INFO_V2,
  CATALOG_MEMBER_V2,
  CATALOG_NAME_VALUE,
  CERTIFICATE_TRUST_LIST,
  SIGNED_DATA,
  SPC_CAB_DATA,
  SPC_PE_IMAGE_DATA,
} from '../../asn1/object-identifiers.ts';
import {
  contextConstructed,
  contextPrimitive,
  encode,
  encodeAll,
  nullValue,
  objectIdentifier,
  octetString,
  sequence,
  setOf,
  setOfAll,
  smallInteger,
  utf16be,
} from '../../asn1/write.ts';
import { digestIn } from '../../authenticode/container.ts';
import { type SpcData, spcContent, spcUnicode } from '../../authenticode/spc-structures.ts';
import { encodeAttribute } from '../../cms/build-signed-data.ts';
import type { ListedFile } from '../../format/signable-file.ts';

const IDENTIFIER_LENGTH = 16;
const FLAGS = Uint8Array.of(0x10, 0x01, 0x00, 0x01);

/**
 * Lists each file by its SHA-256 and its SHA-1 digest. Files with the same content are listed once. The result does not
 * depend on the order of the files.
 */
export function newCatalog(files: readonly ListedFile[], time: Date): Uint8Array {
  const byName = files.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const members = new Map<string, readonly [tag: Uint8Array, member: Uint8Array]>();
  for (const file of byName) {
    for (const [tag, member] of membersOf(file)) {
      const key = Buffer.from(tag).toString('hex');
      if (!members.has(key)) members.set(key, [tag, member]);
    }
  }
  const sorted = [...members.values()].sort(([a], [b]) => Buffer.compare(a, b)).map(([, member]) => member);
  const listed = encodeAll(0x30, sorted);
  const identifier = createHash('sha256').update(listed).digest().subarray(0, IDENTIFIER_LENGTH);
  const list = sequence(
    sequence(objectIdentifier(CATALOG_LIST)),
    octetString(identifier),
    utcTime(time),
    sequence(objectIdentifier(CATALOG_MEMBER_V2), nullValue()),
    listed,
  );
  return unsignedCatalog(sequence(objectIdentifier(CERTIFICATE_TRUST_LIST), contextConstructed(0, list)));
}

export function unsignedCatalog(encapsulated: Uint8Array): Uint8Array {
  const signedData = sequence(smallInteger(1), setOf(), encapsulated, setOf());
  return sequence(objectIdentifier(SIGNED_DATA), contextConstructed(0, signedData));
}

function utcTime(time: Date): Uint8Array {
  return encode(0x17, Buffer.from(`${time.toISOString().replace(/[-:T]/g, '').slice(2, 14)}Z`));
}

/** In catalogs, the SpcLink is empty. */
const EMPTY_LINK = contextConstructed(2, spcUnicode(''));
const INDIRECT: Readonly<Record<ListedFile['kind'], { readonly info: number; readonly data: SpcData }>> = {
  program: {
    info: 0,
    // Flags includeResources and includeImportAddressTable.
    data: {
      type: SPC_PE_IMAGE_DATA,
      value: sequence(encode(0x03, Uint8Array.of(0x05, 0xa0)), contextConstructed(0, EMPTY_LINK)),
    },
  },
  cabinet: { info: 1, data: { type: SPC_CAB_DATA, value: EMPTY_LINK } },
  other: { info: 2, data: { type: SPC_CAB_DATA, value: EMPTY_LINK } },
};

/** Only the entry for the SHA-256 digest contains SpcIndirectData. */
function membersOf({ name, kind, digests }: ListedFile): readonly (readonly [Uint8Array, Uint8Array])[] {
  const { info, data } = INDIRECT[kind];
  const [sha1, sha256] = [digestIn({ digests }, 'SHA1'), digestIn({ digests }, 'SHA256')];
  const file = sequence(
    encode(0x1e, utf16be('File')),
    encode(0x02, FLAGS),
    octetString(Buffer.from(`${name}\0`, 'utf16le')),
  );
  const common = [
    { type: CATALOG_MEMBER_INFO_V2, value: contextPrimitive(info, new Uint8Array()) },
    { type: CATALOG_NAME_VALUE, value: file },
  ];
  const member = (tag: Uint8Array, attributes: typeof common) =>
    [tag, sequence(octetString(tag), setOfAll(attributes.map(encodeAttribute)))] as const;
  return [member(sha256, [...common, spcContent(data, 'SHA256', sha256)]), member(sha1, common)];
}
