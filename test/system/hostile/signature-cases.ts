/** Hostile CMS structures in programs: depth, width, lengths, repetition. */

import { parts, readElement } from '../../../src/asn1/read.ts';
import { contextConstructed, encode, objectIdentifier, octetString, sequence } from '../../../src/asn1/write.ts';
import { attribute } from '../../support/signed-files/hostile-cms.ts';
import { peWithTable, winCertificate } from '../../support/signed-files/hostile-pe.ts';
import {
  authority,
  COUNTER_SIGNATURE,
  type HostileFile,
  hostile,
  listed,
  NESTED,
  OPUS_INFO,
  programWith,
  repeated,
  SHA256,
  signature,
  strangers,
  TIMESTAMP,
  tokenFor,
} from './cases.ts';

const NULL = Uint8Array.of(5, 0);
const raw = (bytes: Uint8Array) => peWithTable(winCertificate(bytes));
const nestedWide = (count: number, inner = signature()) =>
  programWith({ unsignedAttributes: () => [attribute(NESTED, ...listed(count, () => inner))] });
const stamped = (count: number, certificates: readonly Uint8Array[] = []) =>
  signature({
    unsignedAttributes: (value) => {
      const token = tokenFor(value, authority, [authority.der, ...certificates]);
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

/** With a description of these bytes. */
function described(text: Uint8Array): Buffer {
  const info = sequence(contextConstructed(0, encode(0x80, text)));
  return programWith({ signedAttributes: [attribute(OPUS_INFO, info)] });
}

export const SIGNATURE_CASES: readonly HostileFile[] = [
  hostile('64 nested signatures', 'untrusted', null, () => nestedWide(64)),
  hostile('5,000 nested signatures', 'unsupported', 'signature-unreadable', () => nestedWide(5000)),
  hostile('64 nested signatures, each with 2,000 attributes and values', 'unsupported', 'signature-unreadable', () =>
    nestedWide(64, crowded(1)),
  ),
  hostile('60 entries of 16 signers with 2,000 attributes each', 'unsupported', 'signature-unreadable', () => {
    const entry = winCertificate(crowded(16));
    return peWithTable(Buffer.concat(listed(60, () => Buffer.concat([entry, Buffer.alloc(-entry.length & 7)]))));
  }),
  hostile('millions of parts inside 17 indefinite lengths', 'broken', 'signature-unreadable', () => {
    const mark = octetString(Buffer.from('replaced below'));
    const inner = indefinite(signature({ unsignedAttributes: () => [attribute('1.2.3', mark)] }), LEVELS);
    const outer = indefinite(signature({ unsignedAttributes: () => [attribute(NESTED, inner)] }), LEVELS);
    // No element round the mark has a definite length.
    const [before = '', after = ''] = Buffer.from(outer).toString('latin1').split(Buffer.from(mark).toString('latin1'));
    const millions = Buffer.concat([Buffer.from('3080', 'hex'), repeated(7_000_000, NULL), Buffer.alloc(2)]);
    return raw(Buffer.concat([Buffer.from(before, 'latin1'), millions, Buffer.from(after, 'latin1')]));
  }),
  hostile('64 nested signatures with 16 timestamps of 20 certificates', 'unsupported', 'timestamp-unreadable', () =>
    nestedWide(64, stamped(16, strangers(20))),
  ),
  hostile('64 nested signatures, each with 150 certificates of its own', 'unsupported', 'signature-unreadable', () =>
    nestedWide(64, signature({ certificates: strangers(150) })),
  ),
  hostile('1,000 timestamps', 'untrusted', null, () => raw(stamped(1000))),
  hostile('a timestamp with 10,000 certificates', 'unsupported', 'timestamp-unreadable', () => {
    const certificates = listed(10_000, () => authority.der);
    return raw(stamped(1, certificates));
  }),
  hostile('1,000 older timestamps', 'broken', 'timestamp-unreadable', () =>
    programWith({ unsignedAttributes: () => [attribute(COUNTER_SIGNATURE, ...listed(1000, () => sequence(NULL)))] }),
  ),
  hostile('60,000 unsigned attributes', 'unsupported', 'signature-unreadable', () =>
    programWith({ unsignedAttributes: () => listed(60_000, (index) => attribute(`1.2.3.${index}`, NULL)) }),
  ),
  hostile('16 signers', 'unsupported', 'several-signers', () => programWith({ signers: 16 })),
  hostile('16 signers whose algorithm has 65,000 parameters', 'broken', 'signature-unreadable', () =>
    nestedWide(3, signature({ signers: 16, signatureAlgorithm: wideAlgorithm })),
  ),
  hostile('version 99', 'untrusted', null, () => programWith({ version: 99 })),
  hostile('10 MB of revocation lists', 'untrusted', null, () => programWith({ crls: MEGABYTES_OF_A })),
  hostile('a content digest of 10 MB', 'broken', 'signature-unreadable', () =>
    programWith({ content: indirectData(PE_IMAGE, octetString(MEGABYTES_OF_A)) }),
  ),
  hostile('a description of 10 MB', 'unsupported', 'signature-unreadable', () => described(MEGABYTES_OF_A)),
  hostile('a description of 1 MB', 'untrusted', null, () => described(MEGABYTES_OF_A.subarray(0, 1_000_000))),
  hostile('content in 60,000 pieces', 'broken', 'signature-unreadable', () =>
    programWith({ content: encode(0x24, repeated(60_000, octetString(Buffer.alloc(100)))) }),
  ),
  hostile('15.9 MB after the signature', 'broken', 'hidden-bytes', () =>
    raw(Buffer.concat([signature(), Buffer.alloc(15.9 * 1024 * 1024, 1)])),
  ),
  ...[33, 4_000_000].map((depth) =>
    hostile(`indefinite lengths ${depth} deep`, 'broken', 'signature-unreadable', () =>
      raw(repeated(depth, Uint8Array.of(0x30, 0x80))),
    ),
  ),
  hostile('an indefinite length round millions of parts', 'broken', 'signature-unreadable', () =>
    raw(Buffer.concat([Buffer.from('3080', 'hex'), repeated(7_000_000, NULL), Buffer.alloc(2)])),
  ),
  ...['308480000000', '30ffffffffffffff'].map((start) =>
    hostile(`a length that begins with ${start}`, 'broken', 'signature-unreadable', () =>
      raw(Buffer.concat([Buffer.from(start, 'hex'), Buffer.alloc(100)])),
    ),
  ),
  hostile('100,000 entries', 'broken', 'certificate-table-damaged', () =>
    peWithTable(repeated(100_000, winCertificate(new Uint8Array()))),
  ),
  hostile('64 signatures side by side', 'untrusted', 'certificate-table-several', () =>
    peWithTable(repeated(64, winCertificate(signature()))),
  ),
];
