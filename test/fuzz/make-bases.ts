/** Makes what is changed by chance and has keys of its own behind it: stamped files, and each thing that authorities and users send. */

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import forge from 'node-forge';
import { buildOcspRequest } from '../../src/certificates/revocation/ocsp.ts';
import type { Format } from '../../src/format/format.ts';
import { type FoundSignature, withNested } from '../../src/format/signature.ts';
import { jar } from '../../src/formats/jar/index.ts';
import { pe } from '../../src/formats/pe/index.ts';
import { buildTimestampRequest } from '../../src/timestamp/request.ts';
import { startTimestampAuthority, type TimestampAuthority } from '../support/services/timestamp-authority.ts';
import { issue, pemBlock, testKey, toP7b } from '../support/signed-files/pki.ts';
import { makeThrowawaySigner } from '../support/signed-files/throwaway-signer.ts';
import { applyPatch } from '../unit/formats/support/apply-patch.ts';
import { stampIn } from '../unit/formats/support/change.ts';
import { openBytes, signBytes } from '../unit/formats/support/sign-bytes.ts';
import { buildCounterSignature } from '../unit/timestamp/support/build-counter-signature.ts';
import { streamed } from '../unit/timestamp/support/build-token.ts';
import { AUTHORITY, answerOcsp, type Made, make, makeCrl, SIGNER } from '../unit/verifying/support/made-pki.ts';
import { ASKED, P12_PASSWORD } from './bases.ts';

/** `fixtures`: the repository's folder; `fuzz` in it is written to. */
export async function makeBases(fixtures: string): Promise<void> {
  const write = (name: string, bytes: Uint8Array | string) => writeFile(join(fixtures, 'fuzz', `base-${name}`), bytes);
  const read = (name: string) => readFile(join(fixtures, name));
  const authority = await startTimestampAuthority();
  try {
    await write('tsa-root.pem', authority.rootPem);
    await write('stamped.exe', await stamped(pe, await read('golden/sha256-rsa2048.exe'), authority));
    await write('stamped-ber.exe', await stamped(pe, await read('golden/sha384-rsa2048.exe'), authority, streamed));
    await write('stamped-nested.exe', await stamped(pe, await read('golden/appended.exe'), authority));
    const { result } = await signBytes(pe, await read('pe/hello.exe'), await makeThrowawaySigner(), {
      pageHashes: true,
    });
    await write('page-hashes.exe', result);
    await write('stamped.jar', await stamped(jar, await read('golden/sha256-rsa2048.jar'), authority));
    await write('stamped-twice.jar', await stamped(jar, await read('golden/appended.jar'), authority));
    await write(
      'countersignature.der',
      buildCounterSignature(ASKED.signatureValue, authority.certificates.tsa, { digest: 'sha256' }),
    );
    await write('granted.tsr', await answerOf(authority.url));
    await write('rejected.tsr', await answerOf(authority.urlOf('reject')));
    await write('streamed.der', streamed(await authority.stamp(ASKED.signatureValue)));
  } finally {
    await authority.stop();
  }
  await makeCertificates(write);
}

async function stamped(
  format: Format,
  bytes: Buffer,
  authority: TimestampAuthority,
  change = (token: Uint8Array) => token,
): Promise<Buffer> {
  const file = await openBytes(format, bytes);
  const tokens = new Map<FoundSignature, Uint8Array>();
  for (const signature of withNested(await file.signatures())) {
    const value = signature.value ?? new Uint8Array();
    tokens.set(signature, change(await authority.stamp(value)));
  }
  return applyPatch(bytes, (await stampIn(file, tokens)).patch);
}

async function answerOf(url: string): Promise<Buffer> {
  const { algorithm, nonce, digest } = ASKED;
  const body = buildTimestampRequest({ algorithm, digest, nonce });
  const answer = await fetch(url, { method: 'POST', body });
  return Buffer.from(await answer.arrayBuffer());
}

async function makeCertificates(write: (name: string, bytes: Uint8Array | string) => Promise<void>): Promise<void> {
  const issuer = make({
    subject: '/C=DE/O=Acme/CN=Example Issuer',
    extensions: [...AUTHORITY, 'nameConstraints=permitted;dirName:acme,excluded;IP:10.0.0.0/255.0.0.0'],
  });
  const leaf = make({
    subject: '/C=DE/O=Acme/CN=Example Publisher',
    issuer,
    extensions: [
      ...SIGNER,
      'subjectAltName=DNS:example.com,IP:192.0.2.1,URI:http://example.com/,email:a@example.com',
      'crlDistributionPoints=URI:http://example.com/list.crl',
      'authorityInfoAccess=OCSP;URI:http://example.com/,caIssuers;URI:http://example.com/issuer.crt',
      '2.5.29.32=DER:300d300b06092b06010401868d1f01',
    ],
  });
  await write('issuer.der', issuer.der);
  await write('leaf.der', leaf.der);
  await write('revoked.crl', crlOf(issuer, leaf));
  const request = buildOcspRequest(leaf.parsed, issuer.parsed);
  const responder = make({ subject: '/C=DE/CN=Responder', issuer, extensions: RESPONDER });
  await write('good.ocsp', answerOcsp(request, { signer: responder, statuses: ['good'], producedAt: new Date() }));
  await write('chain.p7b', toP7b([leaf.der, issuer.der]));
  await write('chain.pem', pemBlock('CERTIFICATE', leaf.der) + pemBlock('CERTIFICATE', issuer.der));
  for (const algorithm of ['aes256', '3des'] as const) await write(`${algorithm}.p12`, p12Of(algorithm));
}

const RESPONDER = ['keyUsage=digitalSignature', 'extendedKeyUsage=OCSPSigning'];

/** A key that was lost in 2023: the reason and the time. */
const LOST_KEY = ['2.5.29.21=DER:0a0101', '2.5.29.24=DER:180f32303233303130313030303030305a'];

function crlOf(issuer: Made, leaf: Made): Uint8Array {
  return makeCrl({
    issuer,
    revoked: [{ certificate: leaf, date: '20240101000000Z', extensions: LOST_KEY }],
    to: '20400101000000Z',
    extensions: ['issuingDistributionPoint=critical,onlyuser:TRUE'],
  });
}

/** Without a key, and of few iterations, so that thousands of them can be opened. */
function p12Of(algorithm: 'aes256' | '3des'): Buffer {
  const certificate = issue({ commonName: 'Example Publisher', key: testKey('rsa-2048') });
  const pfx = forge.pkcs12.toPkcs12Asn1(null, [forge.pki.certificateFromPem(certificate.pem)], P12_PASSWORD, {
    algorithm,
    count: 16,
  });
  return Buffer.from(forge.asn1.toDer(pfx).getBytes(), 'latin1');
}
