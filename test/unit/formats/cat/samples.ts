/** Security catalogs of both versions, and broken ones. */

import { DIGEST_OID } from '../../../../src/asn1/algorithm-identifiers.ts';
import {
  contextConstructed,
  contextPrimitive,
  encode,
  nullValue,
  objectIdentifier,
  octetString,
  sequence,
  setOf,
  smallInteger,
  utf16be,
} from '../../../../src/asn1/write.ts';
import { flipped } from '../../../support/flipped.ts';
import { type Fixture, malformed } from '../support/fixtures.ts';

interface CatalogShape {
  /** Dotted, as the others. */
  readonly content?: string;
  readonly usage?: string;
  readonly kind?: string;
  readonly time?: string;
  readonly members?: readonly Uint8Array[];
  readonly digestAlgorithms?: readonly Uint8Array[];
}

const MICROSOFT = '1.3.6.1.4.1.311';
const VERSION_1 = `${MICROSOFT}.12.1.2`;
const VERSION_2 = `${MICROSOFT}.12.1.3`;
const IDENTIFIER = Buffer.from('00112233445566778899aabbccddeeff', 'hex');
const TIME = '240506070809Z';

export function makeCatalog({
  content = `${MICROSOFT}.10.1`,
  usage = `${MICROSOFT}.12.1.1`,
  kind = VERSION_2,
  time = TIME,
  members = [],
  digestAlgorithms = [],
}: CatalogShape): Buffer {
  const list = sequence(
    sequence(objectIdentifier(usage)),
    octetString(IDENTIFIER),
    encode(0x17, Buffer.from(time)),
    sequence(objectIdentifier(kind), nullValue()),
    sequence(...members),
    contextConstructed(
      0,
      sequence(sequence(objectIdentifier(`${MICROSOFT}.12.2.1`), octetString(nameValue('OS', '_v100_X64')))),
    ),
  );
  const encapsulated = sequence(objectIdentifier(content), contextConstructed(0, list));
  const signedData = sequence(smallInteger(1), setOf(...digestAlgorithms), encapsulated, setOf());
  return Buffer.from(sequence(objectIdentifier('1.2.840.113549.1.7.2'), contextConstructed(0, signedData)));
}

const attribute = (type: string, ...values: readonly Uint8Array[]) =>
  sequence(objectIdentifier(`${MICROSOFT}.${type}`), setOf(...values));

const nameValue = (name: string, value: string) =>
  sequence(
    encode(0x1e, utf16be(name)),
    encode(0x02, Buffer.from('10010001', 'hex')),
    octetString(Buffer.from(`${value}\0`, 'utf16le')),
  );

const indirectData = (oid: string, digest: Uint8Array) =>
  attribute(
    '2.1.4',
    sequence(
      sequence(objectIdentifier(`${MICROSOFT}.2.1.25`), contextConstructed(2, contextPrimitive(0, Buffer.alloc(0)))),
      sequence(sequence(objectIdentifier(oid), nullValue()), octetString(digest)),
    ),
  );

/** An entry without attributes. */
export const bareMember = sequence(octetString(Buffer.alloc(32, 0x5a)), setOf());
/** An entry with these attributes, one after the other. */
export const memberWith = (attributes: Uint8Array): Uint8Array =>
  sequence(octetString(IDENTIFIER), encode(0x31, attributes));

/** A file as inf2cat lists it: once by SHA-256 and once by SHA-1. */
function listed(name: string, fill: number): readonly Uint8Array[] {
  const digest = Buffer.alloc(32, fill);
  const common = [
    attribute('12.2.3', contextPrimitive(2, Buffer.alloc(0))),
    attribute('12.2.1', nameValue('File', name)),
  ];
  return [
    sequence(octetString(digest), setOf(...common, indirectData(DIGEST_OID.SHA256, digest))),
    sequence(octetString(digest.subarray(12)), setOf(...common)),
  ];
}

const oneFile = listed('sample.inf', 0x5a);
const old = sequence(
  octetString(Buffer.from(`${'5A'.repeat(20)}\0`, 'utf16le')),
  setOf(attribute('12.2.1', nameValue('File', 'old.sys')), indirectData(DIGEST_OID.SHA1, Buffer.alloc(20, 0x5a))),
);

const good = (name: string, what: string, shape: CatalogShape): Fixture => ({
  ...{ name, what, appendCode: 'cannot-append' },
  bytes: makeCatalog(shape),
});
const SHA1 = sequence(objectIdentifier(DIGEST_OID.SHA1), nullValue());
const many = Array.from({ length: 200 }, (_, index) => listed(`file${index}.sys`, index)).flat();

export const GOOD_CATALOGS: readonly Fixture[] = [
  good('two.cat', 'a file listed twice, as inf2cat does', { members: oneFile }),
  good('one.cat', 'a file listed by SHA-1', { kind: VERSION_1, members: [old] }),
  good('none.cat', 'no members', {}),
  good('left.cat', 'a digest algorithm that is left of a signature', { members: oneFile, digestAlgorithms: [SHA1] }),
  good('large.cat', 'more than 64 KiB', { members: many }),
];

const broken = (name: string, what: string, shape: CatalogShape): Fixture =>
  malformed('file-malformed', name, what, makeCatalog(shape));

const plain = makeCatalog({ members: oneFile });
const tooLarge = Buffer.alloc(16 * 1024 * 1024 + 1);
plain.copy(tooLarge);

const memberOf = (...attributes: readonly Uint8Array[]) => sequence(octetString(IDENTIFIER), setOf(...attributes));
const oddName = sequence(encode(0x1e, IDENTIFIER.subarray(1)), smallInteger(1), octetString(IDENTIFIER));
const twoDigests = [1, 2].map((fill) => indirectData(DIGEST_OID.SHA1, Buffer.alloc(20, fill)));

export const MALFORMED_CATALOGS: readonly Fixture[] = [
  malformed('file-malformed', 'cut.cat', 'a catalog that was cut', plain.subarray(0, plain.length - 1)),
  malformed('trailing-bytes', 'tail.cat', 'bytes behind it', Buffer.concat([plain, Buffer.of(0)])),
  malformed('file-too-large', 'huge.cat', 'more than 16 MiB', tooLarge),
  broken('kind.cat', 'members of an unknown kind', { kind: `${MICROSOFT}.12.1.4` }),
  broken('time.cat', 'a month that does not exist', { time: '241306070809Z' }),
  broken('member.cat', 'a member without a tag', { members: [sequence()] }),
  broken('name.cat', 'a name of an odd number of bytes', { members: [memberOf(attribute('12.2.1', oddName))] }),
  broken('digests.cat', 'a member with two digests', { members: [memberOf(...twoDigests)] }),
];

/** The same catalog with another identifier, and with another time. */
export const changedCatalogs = async (result: Buffer) =>
  [result.indexOf(IDENTIFIER), result.indexOf(TIME) + TIME.length - 2].map((offset) => flipped(result, offset));
