/** JARs signed by good and bad certificates, and tampered ones: what the table of verdicts is about. */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { flipped } from '../../support/flipped.ts';
import { fixture } from '../../support/programs/cli.ts';
import { mainJava, mustJarsignAll, mustRunJava, STORE_PASSWORD } from '../../support/programs/java.ts';
import { digest64, section } from '../../support/signed-files/hostile-jar.ts';
import { apkSigningBlock, contentsOf, repack, unzip, zip } from '../../unit/formats/jar/simple-zip.ts';
import { pathsIn } from './pe.ts';
import { nameOf, SIGNINGS, type Signing, type TimestampMode, type VerdictPki } from './pki.ts';
import { MESSAGE_DIGEST, offsetBehind, RSA_ENCRYPTION, tokenChanges, withTokenOf } from './token.ts';

const ARCHIVE = fixture('jar/plain.jar');
const MANIFEST = 'META-INF/MANIFEST.MF';
/** The one that is changed. */
const ENTRY = 'hello/message.txt';
/** OIDs as they stand in DER. */
const SHA256_ALGORITHM = Buffer.from('300d0609608648016503040201', 'hex');
/** basicConstraints, critical, which authorities alone have here. */
const AUTHORITY = Buffer.from('0603551d130101ff', 'hex');
// biome-ignore lint/suspicious/noControlCharactersInRegex: tag and length of a UTCTime.
const UTC_TIME = /\x17\x0d\d{12}Z/g;
const CODE_SIGNING = Buffer.from('06082b06010505070303', 'hex');

/** Tokens that it does not embed. */
const REFUSED_BY_JARSIGNER: readonly (TimestampMode | undefined)[] = ['badimprint', 'badnonce', 'replay'];

/** By jarsigner. */
export async function signArchives(folder: string, pki: VerdictPki): Promise<Map<string, string>> {
  mkdirSync(folder, { recursive: true });
  const signings = SIGNINGS.filter(({ timestamp }) => !REFUSED_BY_JARSIGNER.includes(timestamp));
  const outputs = signings.map((signing) => path.join(folder, nameOf(signing, '.jar')));
  const all = signings.map((signing, index) => signingArguments(pki, signing, ARCHIVE, outputs[index] ?? ''));
  await mustJarsignAll(mainJava(), all);
  return pathsIn(folder);
}

export async function signArchive(pki: VerdictPki, signing: Signing, input: string, output: string): Promise<void> {
  await mustRunJava(mainJava(), 'jarsigner', signingArguments(pki, signing, input, output));
}

function signingArguments(pki: VerdictPki, signing: Signing, input: string, output: string): readonly string[] {
  const { by, timestamp, digest = 'sha256' } = signing;
  const who = ['-keystore', path.join(pki.folder, `${by}.p12`), '-storepass', STORE_PASSWORD];
  const how = ['-digestalg', digest === 'md5' ? 'MD5' : digest.replace('sha', 'SHA-')];
  const stamp = timestamp === undefined ? [] : ['-tsa', pki.timestampUrl(timestamp)];
  return [...who, ...how, ...stamp, '-signedjar', output, input, by];
}

/**
 * Tampered copies of a signed JAR that has a timestamp, one defect each. `another`: a JAR of other contents by the same
 * signer, with files of the same names.
 */
export function tamperArchive(signed: string, another: string, folder: string): void {
  mkdirSync(folder, { recursive: true });
  const archive = readFileSync(signed);
  const files = { ...changeContents(archive), ...changeSignature(archive, readFileSync(another)) };
  for (const [name, bytes] of Object.entries(files)) {
    writeFileSync(path.join(folder, name.includes('.') ? name : `${name}.jar`), bytes);
  }
}

function changeContents(archive: Buffer): Readonly<Record<string, Buffer>> {
  const { sf } = signatureFilesOf(archive);
  const changed = Buffer.concat([contentsOf(archive, ENTRY), Buffer.from('!')]);
  const manifest = contentsOf(archive, MANIFEST).toString();
  const manifestWithDigest = manifest.replace(digest64(contentsOf(archive, ENTRY)), digest64(changed));
  const sfWithDigest = contentsOf(archive, sf).toString().replace(digest64(manifest), digest64(manifestWithDigest));
  const added = { name: 'added.txt', contents: 'added' };
  const withSection = manifest + section(added.name, added.contents);
  return {
    intact: repack(archive, {}),
    'entry-changed': repack(archive, { [ENTRY]: changed }),
    'entry-and-manifest-changed': repack(archive, { [ENTRY]: changed, [MANIFEST]: manifestWithDigest }),
    'entry-manifest-and-sf-changed': repack(archive, {
      [ENTRY]: changed,
      [MANIFEST]: manifestWithDigest,
      [sf]: sfWithDigest,
    }),
    'entry-removed': repack(archive, { [ENTRY]: undefined }),
    'entry-and-section-removed': repack(archive, {
      [ENTRY]: undefined,
      [MANIFEST]: manifest.replace(new RegExp(`Name: ${ENTRY}\r\n.*\r\n\r\n`), ''),
    }),
    'entry-renamed': zip(unzip(archive).map((entry) => (entry.name === ENTRY ? { ...entry, name: 'renamed' } : entry))),
    'entry-twice': repack(archive, {}, [{ name: ENTRY, contents: changed }]),
    'entry-added': repack(archive, {}, [added]),
    'entry-added-to-meta-inf': repack(archive, {}, [{ name: 'META-INF/added.txt', contents: 'added' }]),
    'entry-and-section-added': repack(archive, { [MANIFEST]: withSection }, [added]),
    'stray-sf-added': repack(archive, {}, [{ name: 'META-INF/ADDED.SF', contents: 'Signature-Version: 1.0\r\n\r\n' }]),
    'manifest-attribute': repack(archive, { [MANIFEST]: manifest.replace('Main-Class: ', 'Main-Class: other.') }),
    'manifest-digest': repack(archive, { [MANIFEST]: manifestWithDigest }),
    'manifest-section-added': repack(archive, { [MANIFEST]: withSection }),
    'manifest-removed': repack(archive, { [MANIFEST]: undefined }),
    ...withUncoveredBytes(archive),
  };
}

/** The file's name decides about what stands before the archive. */
function withUncoveredBytes(archive: Buffer): Readonly<Record<string, Buffer>> {
  const entries = unzip(archive);
  const signed = zip(entries);
  const script = Buffer.from('#!/bin/sh\n');
  const after = (preamble: string | Uint8Array) => zip(entries, { preamble });
  const between = (gap: Uint8Array) => zip(entries.map((entry, index) => (index === 1 ? { ...entry, gap } : entry)));
  return {
    'bytes-before': after(script),
    'bytes-before.sh': after(script),
    'batch-before.bat': after(Buffer.from('@exit\r\n')),
    'dex-before.dex': after(Buffer.from('dex\n035\0')),
    'zeros-before.bin': after(Buffer.alloc(8)),
    'bytes-between': between(script),
    'zeros-between': between(Buffer.alloc(8)),
    'bytes-before-directory': zip(entries, { gap: script }),
    'apk-signing-block': zip(entries, { gap: apkSigningBlock(Buffer.from('signature')) }),
    'zip64-bytes': zip(entries, { zip64: true, zip64Data: script }),
    'bytes-behind': Buffer.concat([signed, Buffer.from('behind')]),
    'zeros-behind': Buffer.concat([signed, Buffer.alloc(8)]),
  };
}

function changeSignature(archive: Buffer, another: Buffer): Readonly<Record<string, Buffer>> {
  const { sf, rsa } = signatureFilesOf(archive);
  const block = contentsOf(archive, rsa);
  const anothers = contentsOf(another, rsa);
  const algorithm = offsetBehind(block, RSA_ENCRYPTION, offsetBehind(block, MESSAGE_DIGEST));
  const withBlock = (changed: Uint8Array | undefined) => repack(archive, { [rsa]: changed });
  const last = (...names: readonly string[]) =>
    zip([
      ...unzip(archive).filter(({ name }) => !names.includes(name)),
      ...names.map((name) => ({ name, contents: contentsOf(archive, name) })),
    ]);
  return {
    'sf-attribute': repack(archive, { [sf]: contentsOf(archive, sf).toString().replace('Created-By: ', '$&x') }),
    'sf-removed': repack(archive, { [sf]: undefined }),
    'sf-last': last(sf),
    'signature-last': last(MANIFEST, sf, rsa),
    'block-removed': withBlock(undefined),
    'block-empty': withBlock(Buffer.alloc(0)),
    'block-cut': withBlock(block.subarray(0, block.length - 200)),
    'block-of-another': withBlock(anothers),
    'signature-of-another': repack(archive, { [sf]: contentsOf(another, sf), [rsa]: anothers }),
    'message-digest': withBlock(flipped(block, offsetBehind(block, MESSAGE_DIGEST) + 8)),
    'signature-value': withBlock(flipped(block, algorithm + 40)),
    'signature-algorithm': withBlock(flipped(block, algorithm - 3)),
    'digest-algorithms': withBlock(flipped(block, block.indexOf(SHA256_ALGORITHM))),
    'issuer-certificate-unreadable': withBlock(flipped(block, lastTimeBefore(block, block.indexOf(AUTHORITY)))),
    'leaf-certificate': withBlock(flipped(block, block.indexOf(CODE_SIGNING) - 40)),
    'leaf-purpose': withBlock(flipped(block, offsetBehind(block, CODE_SIGNING) - 1)),
    'token-of-another': withBlock(withTokenOf(block, anothers)),
    ...Object.fromEntries([...tokenChanges(block)].map(([name, changed]) => [name, withBlock(changed)])),
  };
}

/** Offset of the last time before `end`; a key or a signature may hold the first two bytes of one by chance. */
function lastTimeBefore(block: Buffer, end: number): number {
  const times = [...block.subarray(0, end).toString('latin1').matchAll(UTC_TIME)];
  const offset = times.at(-1)?.index;
  if (offset === undefined) throw new Error('the block holds no time of an authority');
  return offset;
}

/** The names of the one signature's files. */
function signatureFilesOf(archive: Buffer): { readonly sf: string; readonly rsa: string } {
  const sf = unzip(archive).find(({ name }) => /^META-INF\/[^/]+\.SF$/.test(name))?.name;
  if (sf === undefined) throw new Error('the JAR is not signed');
  return { sf, rsa: sf.replace(/SF$/, 'RSA') };
}
