/** Hostile CMS structures in programs: depth, width, lengths, repetition. */

import { parts, readElement } from '../../../src/asn1/read.ts';
import { contextConstructed, encode, objectIdentifier, octetString, sequence } from '../../../src/asn1/write.ts';
import { attribute, hostileToken } from '../../support/signed-files/hostile-cms.ts';
import { peWithTable, winCertificate } from '../../support/signed-files/hostile-pe.ts';
import {
  authority,
  COUNTER_SIGNATURE,
  type HostileFile,
  listed,
  NESTED,
  OPUS_INFO,
  programWith,
  repeated,
  SHA256,
  signature,
  strangers,
  TIMESTAMP,
} from './cases.ts';

const NULL = Uint8Array.of(5, 0);
const raw = (bytes: Uint8Array) => peWithTable(winCertificate(bytes));
const nestedDeep = (depth: number) =>
  listed(depth, () => 0).reduce<Uint8Array>(
    (inner) => signature({ unsignedAttributes: () => [attribute(NESTED, inner)] }),
    signature(),
  );
const nestedWide = (count: number, inner = signature()) =>
  programWith({ unsignedAttributes: () => [attribute(NESTED, ...listed(count, () => inner))] });
const stamped = (count: number, certificates: readonly Uint8Array[] = []) =>
  signature({
    unsignedAttributes: (value) => {
      const token = hostileToken(value, { signer: authority, certificates: [authority.der, ...certificates] });
      return [attribute(TIMESTAMP, ...listed(count, () => token))];
    },
  });
/** One attribute of that many values of two bytes. */
const valuesOf = (type: string, count: number) => sequence(objectIdentifier(type), encode(0x31, repeated(count, NULL)));
/** Attributes and values that are short and many. */
const crowded = (signers: number) =>
  signature({
    signers,
    signedAttributes: listed(990, (index) => attribute(`1.2.3.${index}`)),
    unsignedAttributes: () => [valuesOf('1.2.3', 1000)],
  });
/** The last element of the last element and so on, so many levels deep, in indefinite lengths. */
function indefinite(bytes: Uint8Array, levels: number): Uint8Array {
  const element = readElement(bytes, 'it');
  if (levels === 0) return element.bytes;
  const inside = parts(element, 'it').map((part) => part.bytes);
  const last = inside.pop() ?? new Uint8Array();
  return Buffer.concat([Buffer.of(element.tag, 0x80), ...inside, indefinite(last, levels - 1), Buffer.alloc(2)]);
}
/** Down to the values of its unsigned attribute. */
const LEVELS = 8;
/** An algorithm with tens of thousands of parameters, where there is at most one. */
const wideAlgorithm = sequence(objectIdentifier('1.2.840.113549.1.1.1'), repeated(65_000, NULL));
const indirectData = (type: Uint8Array, digest: Uint8Array) => sequence(sequence(type), sequence(SHA256, digest));
const PE_IMAGE = objectIdentifier('1.3.6.1.4.1.311.2.1.15');
const MEGABYTES_OF_A = Buffer.alloc(10_000_000, 0x41);

export const SIGNATURE_CASES: readonly HostileFile[] = [
  {
    what: 'signatures nested 5 deep',
    make: () => raw(nestedDeep(5)),
    verdict: 'unsupported',
    code: 'signature-unreadable',
  },
  {
    what: 'nested 1,000 deep',
    make: () => raw(nestedDeep(1000)),
    verdict: 'unsupported',
    code: 'signature-unreadable',
  },
  { what: '64 nested signatures', make: () => nestedWide(64), verdict: 'untrusted' },
  {
    what: '5,000 nested signatures',
    make: () => nestedWide(5000),
    verdict: 'unsupported',
    code: 'signature-unreadable',
  },
  {
    what: '64 nested signatures, each with 2,000 attributes and values',
    make: () => nestedWide(64, crowded(1)),
    verdict: 'unsupported',
    code: 'signature-unreadable',
  },
  {
    what: '60 entries of 16 signers with 2,000 attributes and values each',
    make: () => {
      const entry = winCertificate(crowded(16));
      return peWithTable(Buffer.concat(listed(60, () => Buffer.concat([entry, Buffer.alloc(-entry.length & 7)]))));
    },
    verdict: 'unsupported',
    code: 'signature-unreadable',
  },
  {
    what: 'millions of parts inside 17 indefinite lengths',
    make: () => {
      const mark = octetString(Buffer.from('replaced below'));
      const inner = indefinite(signature({ unsignedAttributes: () => [attribute('1.2.3', mark)] }), LEVELS);
      const outer = indefinite(signature({ unsignedAttributes: () => [attribute(NESTED, inner)] }), LEVELS);
      // No element round the mark has a definite length.
      const [before = '', after = ''] = Buffer.from(outer)
        .toString('latin1')
        .split(Buffer.from(mark).toString('latin1'));
      const millions = Buffer.concat([Buffer.from('3080', 'hex'), repeated(7_000_000, NULL), Buffer.alloc(2)]);
      return raw(Buffer.concat([Buffer.from(before, 'latin1'), millions, Buffer.from(after, 'latin1')]));
    },
    verdict: 'broken',
    code: 'signature-unreadable',
  },
  {
    what: '64 nested signatures, each with 16 timestamps of 20 certificates',
    make: () => nestedWide(64, stamped(16, strangers(20))),
    verdict: 'unsupported',
    code: 'timestamp-unreadable',
  },
  {
    what: '64 nested signatures, each with 150 certificates of its own',
    make: () => nestedWide(64, signature({ certificates: strangers(150) })),
    verdict: 'unsupported',
    code: 'signature-unreadable',
  },
  {
    what: '1,000 timestamps',
    make: () => raw(stamped(1000)),
    verdict: 'untrusted',
  },
  {
    what: 'a timestamp with 10,000 certificates',
    make: () =>
      raw(
        stamped(
          1,
          listed(10_000, () => authority.der),
        ),
      ),
    verdict: 'unsupported',
    code: 'timestamp-unreadable',
  },
  {
    what: 'a timestamp of 10 MB',
    make: () =>
      programWith({
        unsignedAttributes: (value) => [
          attribute(TIMESTAMP, hostileToken(value, { signer: authority, tstInfo: MEGABYTES_OF_A })),
        ],
      }),
    verdict: 'broken',
    code: 'timestamp-unreadable',
  },
  {
    what: '1,000 older timestamps',
    make: () =>
      programWith({ unsignedAttributes: () => [attribute(COUNTER_SIGNATURE, ...listed(1000, () => sequence(NULL)))] }),
    verdict: 'broken',
    code: 'timestamp-unreadable',
  },
  {
    what: '60,000 unsigned attributes',
    make: () => programWith({ unsignedAttributes: () => listed(60_000, (index) => attribute(`1.2.3.${index}`, NULL)) }),
    verdict: 'unsupported',
    code: 'signature-unreadable',
  },
  {
    what: '60,000 signed attributes',
    make: () => programWith({ signedAttributes: listed(60_000, (index) => attribute(`1.2.3.${index}`, NULL)) }),
    verdict: 'unsupported',
    code: 'signature-unreadable',
  },
  {
    what: '100 attributes of 65,000 values each',
    make: () => programWith({ unsignedAttributes: () => listed(100, () => valuesOf('1.2.3.4', 65_000)) }),
    verdict: 'unsupported',
    code: 'signature-unreadable',
  },
  {
    what: 'the same signed attribute twice',
    make: () => programWith({ signedAttributes: [attribute('1.2.3.4', NULL), attribute('1.2.3.4', NULL)] }),
    verdict: 'broken',
    code: 'signed-attributes-repeated',
  },
  {
    what: 'the same unsigned attribute twice',
    make: () => programWith({ unsignedAttributes: () => listed(2, () => attribute('1.2.3.4', NULL)) }),
    verdict: 'untrusted',
    code: 'unsigned-attributes-repeated',
  },
  { what: '16 signers', make: () => programWith({ signers: 16 }), verdict: 'unsupported', code: 'several-signers' },
  {
    what: '1,000 signers',
    make: () => programWith({ signers: 1000 }),
    verdict: 'unsupported',
    code: 'signature-unreadable',
  },
  {
    what: '16 signers whose algorithm has 65,000 parameters',
    make: () => nestedWide(3, signature({ signers: 16, signatureAlgorithm: wideAlgorithm })),
    verdict: 'broken',
    code: 'signature-unreadable',
  },
  { what: 'version 99', make: () => programWith({ version: 99 }), verdict: 'untrusted' },
  { what: '10 MB of revocation lists', make: () => programWith({ crls: MEGABYTES_OF_A }), verdict: 'untrusted' },
  {
    what: 'a signature value of 10 MB',
    make: () => programWith({ signature: MEGABYTES_OF_A }),
    verdict: 'unsupported',
    code: 'signature-unreadable',
  },
  {
    what: 'a content digest of 10 MB',
    make: () => programWith({ content: indirectData(PE_IMAGE, octetString(MEGABYTES_OF_A)) }),
    verdict: 'broken',
    code: 'signature-unreadable',
  },
  {
    what: 'a description of 10 MB',
    make: () =>
      programWith({
        signedAttributes: [attribute(OPUS_INFO, sequence(contextConstructed(0, encode(0x80, MEGABYTES_OF_A))))],
      }),
    verdict: 'unsupported',
    code: 'signature-unreadable',
  },
  {
    what: 'a description of 1 MB',
    make: () => {
      const text = encode(0x80, Buffer.alloc(1_000_000, 0x41));
      return programWith({ signedAttributes: [attribute(OPUS_INFO, sequence(contextConstructed(0, text)))] });
    },
    verdict: 'untrusted',
  },
  {
    what: 'a description in half characters',
    make: () =>
      programWith({
        signedAttributes: [attribute(OPUS_INFO, sequence(contextConstructed(0, encode(0x80, Buffer.from('odd')))))],
      }),
    verdict: 'untrusted',
  },
  {
    what: 'content in 60,000 pieces',
    make: () => programWith({ content: encode(0x24, repeated(60_000, octetString(Buffer.alloc(100)))) }),
    verdict: 'broken',
    code: 'signature-unreadable',
  },
  {
    what: 'SignedData in SignedData',
    make: () => programWith({ contentType: '1.2.840.113549.1.7.2', content: signature() }),
    verdict: 'unsupported',
    code: 'signature-unreadable',
  },
  {
    what: 'no content',
    make: () => programWith({ content: undefined }),
    verdict: 'broken',
    code: 'signature-unreadable',
  },
  {
    what: '15.9 MB of zeros in a SEQUENCE',
    make: () => raw(encode(0x30, Buffer.alloc(15.9 * 1024 * 1024))),
    verdict: 'broken',
    code: 'signature-unreadable',
  },
  {
    what: '15.9 MB after the signature',
    make: () => raw(Buffer.concat([signature(), Buffer.alloc(15.9 * 1024 * 1024, 1)])),
    verdict: 'broken',
    code: 'hidden-bytes',
  },
  ...[33, 4_000_000].map(
    (depth): HostileFile => ({
      what: `indefinite lengths ${depth} deep`,
      make: () => raw(repeated(depth, Uint8Array.of(0x30, 0x80))),
      verdict: 'broken',
      code: 'signature-unreadable',
    }),
  ),
  {
    what: 'an indefinite length round millions of parts',
    make: () => raw(Buffer.concat([Buffer.from('3080', 'hex'), repeated(7_000_000, NULL), Buffer.alloc(2)])),
    verdict: 'broken',
    code: 'signature-unreadable',
  },
  ...['308480000000', '30850100000000', '3086ffffffffffff', '30ffffffffffffff'].map(
    (start): HostileFile => ({
      what: `a length that begins with ${start}`,
      make: () => raw(Buffer.concat([Buffer.from(start, 'hex'), Buffer.alloc(100)])),
      verdict: 'broken',
      code: 'signature-unreadable',
    }),
  ),
];
