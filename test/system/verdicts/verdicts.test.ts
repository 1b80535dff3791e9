/** Tampered files, checked by `verify`, osslsigncode and jarsigner; and the table of many more. */

import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { jar } from '../../../src/formats/jar/index.ts';
import { pe } from '../../../src/formats/pe/index.ts';
import { flipped } from '../../support/flipped.ts';
import { folderForAll } from '../../support/set-up.ts';
import { makeThrowawaySigner } from '../../support/signed-files/throwaway-signer.ts';
import { contentsOf, repack } from '../../unit/formats/jar/simple-zip.ts';
import { headerOffsets } from '../../unit/formats/pe/slow-pe.ts';
import { readFixture } from '../../unit/formats/support/fixtures.ts';
import { signBytes } from '../../unit/formats/support/sign-bytes.ts';
import { makeBlockArchives } from './blocks.ts';
import { withChecksum } from './pe.ts';
import { disagreeing, type OthersWord, readVerdicts } from './table.ts';
import { RSA_ENCRYPTION } from './token.ts';
import { askJarsigner, askOsslsigncode, type OwnVerdict, type Said, verifyAll } from './verifiers.ts';

/** A time of 13 characters in DER. */
const UTC_TIME = Buffer.from('170d', 'hex');

const folder = folderForAll();
const inFolder = (name: string) => path.join(folder, name);

/** Writes the files and asks `verify` and another one about them. */
async function askBoth(
  files: Readonly<Record<string, Buffer>>,
  roots: string,
  ask: (paths: readonly string[], roots: string) => Promise<Said<OthersWord>>,
): Promise<Record<string, [string, OthersWord | undefined]>> {
  const paths = Object.entries(files).map(([name, bytes]) => {
    writeFileSync(inFolder(name), bytes);
    return [name, inFolder(name)] as const;
  });
  const all = paths.map(([, place]) => place);
  const [own, theirs] = await Promise.all([verifyAll(all, roots), ask(all, roots)]);
  return Object.fromEntries(paths.map(([name, place]) => [name, [textOf(own.get(place)), theirs.get(place)]]));
}

function textOf(verdict: OwnVerdict | undefined): string {
  return verdict === undefined ? '' : [verdict.right, ...verdict.findings].join(' ');
}

describe('tampered files', () => {
  it('are broken programs, including those that osslsigncode accepts', async () => {
    const signer = await makeThrowawaySigner();
    writeFileSync(inFolder('root.pem'), signer.root);
    const { result: signed } = await signBytes(pe, readFixture('pe/hello.exe'), signer);
    const table = signed.readUInt32LE(headerOffsets(signed).entry);
    const withPadding = Buffer.concat([signed, Buffer.from('hidden!!')]);
    const { entry } = headerOffsets(signed);
    withPadding.writeUInt32LE(signed.readUInt32LE(entry + 4) + 8, entry + 4);
    withPadding.writeUInt32LE(signed.readUInt32LE(table) + 8, table);
    const files = {
      'intact.exe': signed,
      'content.exe': withChecksum(flipped(signed, table - 8)),
      'checksum.exe': flipped(signed, headerOffsets(signed).checksum),
      'signature.exe': withChecksum(flipped(signed, signed.length - 40)),
      'hidden.exe': withChecksum(withPadding),
    };
    expect(await askBoth(files, inFolder('root.pem'), askOsslsigncode)).toEqual({
      'intact.exe': ['trusted', 'yes'],
      'content.exe': ['broken content-digest-differs', 'no'],
      'checksum.exe': ['broken checksum-wrong', 'yes'],
      'signature.exe': ['broken signature-value-wrong', 'no'],
      'hidden.exe': ['broken hidden-bytes', 'yes'],
    });
  });

  it('are broken JARs, including the one that jarsigner accepts', async () => {
    const signer = await makeThrowawaySigner();
    writeFileSync(inFolder('root.pem'), signer.root);
    const { result: signed } = await signBytes(jar, readFixture('jar/plain.jar'), signer, { signerName: 'TEST' });
    const block = contentsOf(signed, 'META-INF/TEST.RSA');
    const intermediate = Buffer.from(signer.intermediate.replace(/-----[A-Z ]+-----|\s/g, ''), 'base64');
    const files = {
      'intact.jar': repack(signed, {}),
      'content.jar': repack(signed, { 'hello/message.txt': 'another' }),
      'removed.jar': repack(signed, { 'hello/message.txt': undefined }),
      'algorithm.jar': repack(signed, {
        'META-INF/TEST.RSA': flipped(block, block.lastIndexOf(RSA_ENCRYPTION) + RSA_ENCRYPTION.length - 3),
      }),
      'issuer.jar': repack(signed, {
        'META-INF/TEST.RSA': replaced(block, intermediate, flipped(intermediate, intermediate.indexOf(UTC_TIME))),
      }),
    };
    mkdirSync(inFolder('trust'));
    const ask = (paths: readonly string[]) =>
      askJarsigner(paths, signer.root + signer.intermediate, inFolder('trust/store'));
    expect(await askBoth(files, inFolder('root.pem'), ask)).toEqual({
      'intact.jar': ['trusted', 'yes'],
      'content.jar': ['broken content-digest-differs', 'no'],
      'removed.jar': ['broken entries-removed', 'yes'],
      'algorithm.jar': ['unsupported signature-algorithm-unknown', 'no'],
      'issuer.jar': ['broken block-certificate-unreadable chain-incomplete', 'no'],
    });
  });
});

it('checks blocks of several signers, and those with content, as in the table', async () => {
  const { root, files } = makeBlockArchives();
  const roots = inFolder('blocks.pem');
  writeFileSync(roots, root);
  for (const [name, bytes] of files) writeFileSync(inFolder(name), bytes);
  const own = await verifyAll([...files.keys()].map(inFolder), roots);
  const rows = new Map(readVerdicts().map(({ file, right, findings }) => [file, textOf({ right, findings })]));
  for (const name of files.keys())
    expect([name, textOf(own.get(inFolder(name)))]).toEqual([name, rows.get(`block-jar/${name}`)]);
});

describe('the table', () => {
  const rows = readVerdicts();

  it('names each file once, with a verdict, and says why wherever others disagree', () => {
    expect(rows.length).toBeGreaterThan(400);
    expect(new Set(rows.map(({ file }) => file)).size).toBe(rows.length);
    const verdicts = ['trusted', 'untrusted', 'unsupported', 'broken', 'unsigned', 'unsupported-format'];
    expect(rows.filter(({ right }) => !verdicts.includes(right))).toEqual([]);
    expect(rows.filter((row) => disagreeing(row).length > 0 !== (row.why !== ''))).toEqual([]);
  });

  it('has a finding for every rejection, and no serious finding for a trusted file', () => {
    const withFindings = rows.filter(({ findings }) => findings.length > 0);
    expect(withFindings.filter(({ right }) => right === 'trusted')).toEqual([]);
    const refused = rows.filter(({ right }) => right === 'broken' || right === 'untrusted');
    expect(refused.filter(({ findings }) => findings.length === 0)).toEqual([]);
  });
});

function replaced(bytes: Buffer, part: Buffer, by: Buffer): Buffer {
  const at = bytes.indexOf(part);
  expect(at).toBeGreaterThan(0);
  return Buffer.concat([bytes.subarray(0, at), by, bytes.subarray(at + part.length)]);
}
