/** Timestamps of older authorities, timestamps that the platform does not read, and signatures for other kinds of file. */

import { createHash, createPrivateKey } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import {
  COUNTER_SIGNATURE,
  SPC_PE_IMAGE_DATA,
  SPC_RFC3161_TIMESTAMP,
  TIMESTAMP_TOKEN,
} from '../../../src/asn1/object-identifiers.ts';
import { octetString } from '../../../src/asn1/write.ts';
import { nestSignature } from '../../../src/authenticode/authenticode-file.ts';
import { attributeValues, parseSignedData } from '../../../src/cms/parse-signed-data.ts';
import { addUnsignedValue, replaceUnsignedAttributes } from '../../../src/cms/unsigned-attributes.ts';
import { spcPeImageData } from '../../../src/formats/pe/image-data.ts';
import { fixture } from '../../support/programs/cli.ts';
import { openssl } from '../../support/programs/openssl.ts';
import { peculiarSignature } from '../../unit/authenticode/peculiar-signature.ts';
import { contentsOf, repack, unzip } from '../../unit/formats/jar/simple-zip.ts';
import { slowContent } from '../../unit/formats/pe/slow-pe.ts';
import {
  buildCounterSignature,
  type CounterSignatureParts,
} from '../../unit/timestamp/support/build-counter-signature.ts';
import { signingTime } from '../../unit/timestamp/support/build-token.ts';
import { pathsIn, signProgram, withCms, withTokenMoved } from './pe.ts';
import { must, type VerdictPki } from './pki.ts';

/** When the expired certificate was valid. */
const TIME = '240601120000Z';
const PROGRAM = fixture('pe/hello.exe');

/** By osslsigncode with the expired certificate, which only a timestamp makes good. @returns name → path */
export async function legacyPrograms(folder: string, pki: VerdictPki): Promise<Map<string, string>> {
  mkdirSync(folder, { recursive: true });
  const inPki = (name: string) => path.join(pki.folder, name);
  const stampless = path.join(pki.folder, 'stampless.exe');
  const how = ['-certs', inPki('leafexp.chain.pem'), '-ac', inPki('tsa.crt'), '-key', inPki('leafexp.key')];
  await must('osslsigncode', ['sign', ...how, '-h', 'sha256', '-in', PROGRAM, '-out', stampless]);
  const write = (name: string, program: Buffer) => writeFileSync(path.join(folder, `${name}.exe`), program);

  const key = readFileSync(inPki('tsa.key'));
  const authority = { der: derOf(inPki('tsa.crt')), privateKey: createPrivateKey(key) };
  /** PKCS#1 v1.5 padding without DigestInfo, by OpenSSL. */
  const bare = (change: (digest: Buffer) => Uint8Array) => (signed: Uint8Array) =>
    openssl(['pkeyutl', '-sign', '-inkey', 'key', '-in', 'digest', '-pkeyopt', 'rsa_padding_mode:pkcs1'], {
      key,
      digest: change(createHash('sha1').update(signed).digest()),
    });
  const legacy: Readonly<Record<string, CounterSignatureParts>> = {
    'counter-usual': { digest: 'sha256' },
    'counter-no-content-type': { digest: 'sha256', contentTypes: [] },
    'counter-tst-info': { digest: 'sha256', contentTypes: ['1.2.840.113549.1.9.16.1.4'] },
    'counter-other-content-type': { digest: 'sha256', contentTypes: ['1.2.3.4'] },
    'counter-bare': { signs: bare((digest) => digest) },
    'counter-bare-short': { signs: bare((digest) => digest.subarray(0, 19)) },
    'counter-bare-octet-string': { signs: bare((digest) => octetString(digest)) },
    'counter-bare-trailing-byte': { signs: bare((digest) => Buffer.concat([digest, Buffer.alloc(1)])) },
  };
  for (const [name, parts] of Object.entries(legacy)) {
    const stamped = (cms: Uint8Array) => {
      const { signature } = parseSignedData(cms).signers[0];
      const value = buildCounterSignature(signature, authority, { times: [signingTime(TIME)], ...parts });
      return addUnsignedValue(cms, { type: COUNTER_SIGNATURE, value });
    };
    write(name, withCms(readFileSync(stampless), stamped));
  }

  const timed = path.join(pki.folder, 'timed.exe');
  await signProgram(pki, { by: 'leafexp', timestamp: 'past2024' }, timed);
  write('token-under-cms', withTokenMoved(readFileSync(timed)));
  writeOtherKinds(folder, pki);
  return pathsIn(folder);
}

/** By the good certificate, for a kind of file that does not exist. */
function writeOtherKinds(folder: string, pki: VerdictPki): void {
  const file = slowContent(readFileSync(PROGRAM));
  const inPki = (name: string) => path.join(pki.folder, name);
  const der = derOf(inPki('leaf2048.crt'));
  const leaf = { der, privateKey: createPrivateKey(readFileSync(inPki('leaf2048.key'))) };
  const certificates = [der, derOf(inPki('ica.crt'))];
  const ofKind = (dataType: string = SPC_PE_IMAGE_DATA) =>
    peculiarSignature(leaf, { file, certificates, dataType, dataValue: spcPeImageData() });
  const signed = readFileSync(path.join(pki.folder, 'stampless.exe'));
  const write = (name: string, cms: Uint8Array) =>
    writeFileSync(
      path.join(folder, `${name}.exe`),
      withCms(signed, () => cms),
    );
  write('kind-program', ofKind());
  write('kind-unknown', ofKind('1.2.3.4'));
  write('kind-cabinet', ofKind('1.3.6.1.4.1.311.2.1.25'));
  write('kind-unknown-nested', nestSignature(ofKind(), ofKind('1.2.3.4')));
}

/** `stamped`: a JAR with a token. The same with the token under the attribute of Authenticode. @returns name → path */
export function legacyArchives(folder: string, stamped: string): Map<string, string> {
  mkdirSync(folder, { recursive: true });
  const bytes = readFileSync(stamped);
  const name = unzip(bytes).find((entry) => entry.name.endsWith('.RSA'))?.name ?? '';
  const block = contentsOf(bytes, name);
  const [token] = attributeValues(parseSignedData(block).signers[0].unsignedAttributes, TIMESTAMP_TOKEN);
  if (token === undefined) throw new Error('there is no token');
  const moved = { type: SPC_RFC3161_TIMESTAMP, value: token.bytes };
  const changed = repack(bytes, { [name]: Buffer.from(replaceUnsignedAttributes(block, moved, [TIMESTAMP_TOKEN])) });
  writeFileSync(path.join(folder, 'token-under-authenticode.jar'), changed);
  return pathsIn(folder);
}

function derOf(pemFile: string): Buffer {
  return Buffer.from(readFileSync(pemFile, 'utf8').replace(/-----[^-]+-----|\s/g, ''), 'base64');
}
