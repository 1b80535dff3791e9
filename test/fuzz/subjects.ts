/** The files that are changed by chance: signed and timestamped, trusted as they are, and what in them is signed. */

import { readFile } from 'node:fs/promises';
import { readElement } from '../../src/asn1/read.ts';
import { parseSignedData, type SignedData } from '../../src/cms/parse-signed-data.ts';
import type { EmbeddedSignature, Format } from '../../src/formats/format.ts';
import { jar } from '../../src/formats/jar/index.ts';
import { pe } from '../../src/formats/pe/index.ts';
import { applyPatch } from '../formats/support/apply-patch.ts';
import { openBytes } from '../formats/support/sign-bytes.ts';
import { fixture } from '../support/cli.ts';
import type { TimestampAuthority } from '../support/timestamp-authority.ts';
import type { StampOptions } from '../support/timestamp-desk.ts';

export interface Subject {
  readonly name: string;
  readonly extension: string;
  readonly format: Format;
  readonly bytes: Buffer;
  /** Where its signatures are. */
  readonly start: number;
  readonly end: number;
  /** The CMS that stands in the file. */
  readonly cms: Uint8Array;
  /** With another CMS in its place. */
  with(cms: Uint8Array): Buffer;
}

/** Offset of CheckSum, and of the directory entry of the table, in the optional header of PE32+. */
export const CHECKSUM = 64;
export const TABLE_ENTRY = 144;

export async function makeSubjects(authority: TimestampAuthority): Promise<readonly Subject[]> {
  return [
    await program('one signature', 'golden/sha256-rsa2048.exe', authority),
    await program('one signature, its timestamp in BER', 'golden/sha384-rsa2048.exe', authority, { streamed: true }),
    await program('a nested signature', 'golden/appended.exe', authority),
    await archive('one signer', 'golden/sha256-rsa2048.jar', authority),
    await archive('two signers', 'golden/appended.jar', authority),
  ];
}

export function optionalHeader(bytes: Buffer): number {
  return bytes.readUInt32LE(60) + 24;
}

async function program(
  name: string,
  file: string,
  authority: TimestampAuthority,
  options?: StampOptions,
): Promise<Subject> {
  const bytes = await stamped(pe, await readFile(fixture(file)), authority, options);
  // CheckSum is checked, and whoever changes a file on purpose puts it right; without one the other checks are alone.
  bytes.writeUInt32LE(0, optionalHeader(bytes) + CHECKSUM);
  const entry = optionalHeader(bytes) + TABLE_ENTRY;
  const start = bytes.readUInt32LE(entry);
  const cms = (await signaturesOf(pe, bytes))[0]?.cms ?? new Uint8Array();
  return {
    name: `a program with ${name}`,
    extension: '.exe',
    format: pe,
    bytes,
    start,
    end: bytes.length,
    cms,
    with(other) {
      const length = Math.ceil((8 + other.length) / 8) * 8;
      const table = Buffer.alloc(length);
      bytes.copy(table, 0, start, start + 8);
      table.writeUInt32LE(length);
      table.set(other, 8);
      const changed = Buffer.concat([bytes.subarray(0, start), table]);
      changed.writeUInt32LE(length, entry + 4);
      return changed;
    },
  };
}

async function archive(name: string, file: string, authority: TimestampAuthority): Promise<Subject> {
  const bytes = await stamped(jar, await readFile(fixture(file)), authority);
  const [first, ...others] = await signaturesOf(jar, bytes);
  const cms = first?.cms ?? new Uint8Array();
  const start = Math.min(...[cms, ...others.map((each) => each.cms)].map((each) => bytes.indexOf(each)));
  return {
    name: `an archive with ${name}`,
    extension: '.jar',
    format: jar,
    bytes,
    start,
    end: bytes.length,
    cms,
    // Of the same length only: the archive's own records stay as they are.
    with: (other) =>
      Buffer.from(
        bytes.toString('latin1').replace(Buffer.from(cms).toString('latin1'), () => lengthened(other, cms.length)),
        'latin1',
      ),
  };
}

/** With zeros behind it up to the length, which is a finding and no fault; what is longer is cut off. */
function lengthened(cms: Uint8Array, length: number): string {
  return Buffer.concat([cms, Buffer.alloc(Math.max(0, length - cms.length))]).toString('latin1', 0, length);
}

async function stamped(
  format: Format,
  bytes: Buffer,
  authority: TimestampAuthority,
  options?: StampOptions,
): Promise<Buffer> {
  const file = await openBytes(format, bytes);
  const tokens = new Map<EmbeddedSignature, Uint8Array>();
  for (const signature of flat(await file.signatures())) {
    const value = signature.signedData?.signers[0].signature ?? new Uint8Array();
    tokens.set(signature, await authority.stamp(value, options));
  }
  return applyPatch(bytes, (await file.stamp(tokens)).patch);
}

async function signaturesOf(format: Format, bytes: Buffer): Promise<readonly EmbeddedSignature[]> {
  return (await openBytes(format, bytes)).signatures();
}

export function flat(signatures: readonly EmbeddedSignature[]): EmbeddedSignature[] {
  return signatures.flatMap((signature) => [signature, ...flat(signature.nested)]);
}

/** Bytes that somebody vouches for, which must be in every file that is called trusted on their account. */
export function vouchedFor(cms: Uint8Array): readonly Uint8Array[] {
  const signedData = parseSignedData(cms);
  const [{ signedBytes, signature, certificate }] = signedData.signers;
  const attributes = signedBytes === undefined ? [] : [readElement(signedBytes, 'attributes').contents];
  return [...contentOf(signedData), ...attributes, signature, ...(certificate === undefined ? [] : [certificate])];
}

/** What messageDigest is over; of a content in pieces, each. */
function contentOf({ content }: SignedData): readonly Uint8Array[] {
  if (content === undefined || content.tag === 0x24) return [];
  return [content.contents];
}
