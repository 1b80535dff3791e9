/** Hostile JARs: signatures, sections, digests and attributes without end, and what is packed to burst. */

import { attribute } from '../../support/signed-files/hostile-cms.ts';
import {
  digest64,
  hostileJar,
  MAIN_SECTION,
  section,
  signatureBlock,
  signatureFile,
} from '../../support/signed-files/hostile-jar.ts';
import { LARGEST_BOUNDS } from './bounds.ts';
import { type HostileFile, hostile, listed, signer, strangers, tokenFor } from './cases.ts';
import { type ContainerCase, casesOf } from './containers/container-cases.ts';

const TOKEN = '1.2.840.113549.1.9.16.2.14';
const SECTION = section('a', 'a');
const MANIFEST = MAIN_SECTION + SECTION;
const SIGNED = signatureFile(MANIFEST, new Map([['a', SECTION]]));
const BLOCK = signatureBlock(SIGNED, { signer });
const ENTRIES = [{ name: 'a', contents: 'a' }];
const MEGABYTES = Buffer.alloc(500_000_000);

/** With another manifest, whose digest is signed. */
function withManifest(manifest: string, entries = ENTRIES): Buffer {
  const file = signatureFile(manifest, new Map(entries.map(({ name, contents }) => [name, section(name, contents)])));
  return hostileJar({ manifest, signatures: { A: [file, signatureBlock(file, { signer })] }, entries });
}

/** With another signature file, signed. */
function withSignatureFile(file: string): Buffer {
  const signatures = { A: [file, signatureBlock(file, { signer })] as const };
  return hostileJar({ manifest: MANIFEST, signatures, entries: ENTRIES });
}

const withFiles = (file: string | Uint8Array, block: string | Uint8Array, manifest: string | Uint8Array = MANIFEST) =>
  hostileJar({ manifest, signatures: { A: [file, block] }, entries: ENTRIES });

function manySigners(count: number, block = BLOCK): Buffer {
  const signatures = Object.fromEntries(listed(count, (index) => [`S${index}`, [SIGNED, block] as const]));
  return hostileJar({ manifest: MANIFEST, signatures, entries: ENTRIES });
}

/** Of 16 signers with 1,000 short values each. */
const crowdedBlock = () =>
  signatureBlock(SIGNED, {
    signer,
    signers: 16,
    unsignedAttributes: () => [attribute('1.2.3', ...listed(1000, () => Uint8Array.of(5, 0)))],
  });

function stampedBlock(count: number): Uint8Array {
  return signatureBlock(SIGNED, {
    signer,
    unsignedAttributes: (value) => [attribute(TOKEN, ...listed(count, () => tokenFor(value)))],
  });
}

/** 20 signers, each of whom covers 2,000 files by digests of their sections. */
function crossCovered(): Buffer {
  const entries = listed(2000, (index) => ({ name: `folder/${index}`, contents: String(index) }));
  const sections = new Map(entries.map(({ name, contents }) => [name, section(name, contents)]));
  const manifest = MAIN_SECTION + [...sections.values()].join('');
  const main = `Signature-Version: 1.0\r\nSHA-256-Digest-Manifest-Main-Attributes: ${digest64(MAIN_SECTION)}\r\n\r\n`;
  const file = main + Array.from(sections, ([name, text]) => section(name, text)).join('');
  const block = signatureBlock(file, { signer });
  const signatures = Object.fromEntries(listed(20, (index) => [`S${index}`, [file, block] as const]));
  return hostileJar({ manifest, signatures, entries });
}

/** Files of a signature each with digests of all sections, so that none is the digest of the whole manifest. */
function manySections(count: number, signatureCount: number): Buffer {
  const entries = listed(count, (index) => ({ name: index.toString(36), contents: '', isStored: true }));
  const md5 = (name: string, contents: string) => `Name: ${name}\r\nMD5-Digest: ${digest64(contents, 'md5')}\r\n\r\n`;
  const sections = entries.map(({ name }) => md5(name, ''));
  const digests = entries.map(({ name }, index) => md5(name, sections[index] ?? '')).join('');
  const signatures = listed(signatureCount, (index) => {
    const file = `Signature-Version: 1.0\r\nX: ${index}\r\n\r\n${digests}`;
    return [`S${index}`, [file, signatureBlock(file, { signer })] as const] as const;
  });
  return hostileJar({
    manifest: MAIN_SECTION + sections.join(''),
    signatures: Object.fromEntries(signatures),
    entries,
  });
}

const lines = (count: number, make: (index: number) => string) => listed(count, make).join('');

const WEAK = 'digest-algorithm-weak';
const archive = casesOf('hostile.jar');

/** Files of almost 20 MB, each near the bounds. */
export const LARGE_ARCHIVE_CASES: readonly ContainerCase[] = [
  archive('65,000 files and nine signature files of 30 MB', 'planned', () => manySections(65_000, 9), {
    verified: WEAK,
    bounds: LARGEST_BOUNDS,
  }),
];

export const ARCHIVE_CASES: readonly HostileFile[] = [
  hostile('30 blocks of 15.9 MB', 'unsupported', 'jar-blocks-too-large', () =>
    manySigners(30, Buffer.concat([BLOCK, Buffer.alloc(15_900_000)])),
  ),
  hostile('32 signers', 'untrusted', null, () => manySigners(32)),
  hostile('33 signers', 'unsupported', 'jar-too-many-signatures', () => manySigners(33)),
  hostile('20 signers of 2,000 files', 'untrusted', null, crossCovered),
  hostile('30 signers with 150 certificates each', 'unsupported', 'cms-too-large', () =>
    manySigners(30, signatureBlock(SIGNED, { signer, certificates: [signer.der, ...strangers(149)] })),
  ),
  hostile('1,000 timestamps', 'untrusted', null, () => withFiles(SIGNED, stampedBlock(1000))),
  hostile('30 signers with 16 timestamps each', 'unsupported', 'timestamp-unreadable', () =>
    manySigners(30, stampedBlock(16)),
  ),
  hostile('a signature file of one line of 15.9 MB', 'broken', 'signature-file-unreadable', () =>
    withSignatureFile(`Signature-Version: 1.0${'x'.repeat(15_900_000)}`),
  ),
  hostile('a signature file of 800,000 sections', 'broken', 'manifest-digest-differs', () =>
    withSignatureFile(`Signature-Version: 1.0\r\n\r\n${'Name: a\r\nX: y\r\n\r\n'.repeat(800_000)}`),
  ),
  hostile('400,000 attributes in the signature file', 'broken', 'signature-file-unreadable', () =>
    withSignatureFile(`Signature-Version: 1.0\r\n${lines(400_000, (index) => `A${index}-Digest-Manifest: x\r\n`)}`),
  ),
  hostile('100,000 sections of one name', 'unsupported', 'jar-too-many-digests', () => {
    const manifest = MAIN_SECTION + SECTION.repeat(100_000);
    const file = signatureFile(manifest, new Map([['a', SECTION.repeat(100_000)]]));
    return hostileJar({ manifest, signatures: { A: [file, signatureBlock(file, { signer })] }, entries: ENTRIES });
  }),
  hostile('180,000 sections of files that are not there', 'untrusted', null, () =>
    withManifest(MAIN_SECTION + SECTION + lines(180_000, (index) => section(`f${index}`, ''))),
  ),
  hostile('a block of 15.9 MB', 'broken', 'cms-malformed', () =>
    withFiles(SIGNED, Buffer.concat([Buffer.from('308400f42400', 'hex'), Buffer.alloc(15_900_000)])),
  ),
  hostile('a signature file that unpacks to 500 MB', 'broken', 'signature-file-unreadable', () =>
    withFiles(MEGABYTES, BLOCK),
  ),
  hostile('a manifest that unpacks to 500 MB', 'unsupported', 'manifest-too-large', () =>
    withFiles(SIGNED, BLOCK, MEGABYTES),
  ),
  hostile('a signature file that unpacks to more than it says', 'broken', 'zip-entry-damaged', () => {
    const bomb = { name: 'META-INF/A.SF', contents: MEGABYTES, size: 100 };
    return hostileJar({
      manifest: MANIFEST,
      signatures: {},
      entries: [bomb, { name: 'META-INF/A.RSA', contents: BLOCK }],
    });
  }),
  hostile('20 signers, each with 16,000 attribute values', 'unsupported', 'cms-too-large', () =>
    manySigners(20, Buffer.from(crowdedBlock())),
  ),
  hostile('a block that unpacks to 500 MB', 'unsupported', 'jar-blocks-too-large', () => withFiles(SIGNED, MEGABYTES)),
];
