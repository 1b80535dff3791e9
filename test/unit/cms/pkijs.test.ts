/** What the client builds, as pkijs reads and verifies it: a reader and a check of signatures that share no code with ours. */

import { createHash, randomBytes, X509Certificate } from 'node:crypto';
import { fromBER, OctetString } from 'asn1js';
import { Certificate, ContentInfo, SignedData, type SignerInfo, TimeStampReq, TSTInfo } from 'pkijs';
import { beforeAll, describe, expect, test } from 'vitest';
import { type DigestAlgorithm, NODE_DIGEST_NAME } from '../../../src/crypto/algorithms.ts';
import type { EmbeddedSignature, Format, SigningMode } from '../../../src/formats/format.ts';
import { jar } from '../../../src/formats/jar/index.ts';
import { pe } from '../../../src/formats/pe/index.ts';
import { buildTimestampRequest, nonceOf } from '../../../src/timestamp/request.ts';
import { signingContext } from '../../support/signed-files/signing-context.ts';
import { makeThrowawaySigner, type ThrowawaySigner } from '../../support/signed-files/throwaway-signer.ts';
import { contentsOf } from '../formats/jar/simple-zip.ts';
import { applyPatch } from '../formats/support/apply-patch.ts';
import { readFixture } from '../formats/support/fixtures.ts';
import { openBytes } from '../formats/support/sign-bytes.ts';
import { buildToken, buildTstInfo, tokenSigner } from '../timestamp/support/build-token.ts';

const ALGORITHMS = ['SHA256', 'SHA384', 'SHA512'] as const;
const DIGEST_OID: Readonly<Record<(typeof ALGORITHMS)[number], string>> = {
  SHA256: '2.16.840.1.101.3.4.2.1',
  SHA384: '2.16.840.1.101.3.4.2.2',
  SHA512: '2.16.840.1.101.3.4.2.3',
};
const SPC_INDIRECT_DATA = '1.3.6.1.4.1.311.2.1.4';
const DATA = '1.2.840.113549.1.7.1';
const NESTED_SIGNATURE = '1.3.6.1.4.1.311.2.4.1';
/** The attribute that holds a token: Authenticode's, and that of CMS (RFC 3161, appendix A). */
const TIMESTAMP = { pe: '1.3.6.1.4.1.311.3.3.1', jar: '1.2.840.113549.1.9.16.2.14' } as const;

let signer: ThrowawaySigner;
let root: Certificate;
beforeAll(async () => {
  signer = await makeThrowawaySigner();
  root = Certificate.fromBER(new X509Certificate(signer.root).raw);
});

/** The file with a signature, as `sign` would write it. */
async function signed(
  format: Format,
  bytes: Buffer,
  algorithm: DigestAlgorithm,
  mode: SigningMode,
  isStamped: boolean,
) {
  const file = await openBytes(format, bytes);
  const prepared = await file.prepare(signingContext({ algorithm, chain: signer.chain }), mode);
  const signature = signer.sign(prepared.toBeSigned, algorithm);
  const token = isStamped ? buildToken({ info: buildTstInfo(signature) }) : undefined;
  return applyPatch(bytes, prepared.embed(prepared.seal(signature, token)).patch);
}

async function onlySignature(format: Format, bytes: Buffer): Promise<EmbeddedSignature> {
  const [signature, ...others] = await (await openBytes(format, bytes)).signatures();
  if (signature === undefined || others.length > 0) throw new Error('not one signature');
  return signature;
}

/** SignedData of a ContentInfo, which must be the whole of the bytes. */
function read(cms: Uint8Array): SignedData {
  const { offset, result } = fromBER(cms);
  expect(offset).toBe(cms.length);
  const content = new ContentInfo({ schema: result });
  expect(content.contentType).toBe(ContentInfo.SIGNED_DATA);
  return new SignedData({ schema: content.content });
}

function signerOf({ signerInfos }: SignedData): SignerInfo {
  const [only, ...others] = signerInfos;
  if (only === undefined || others.length > 0) throw new Error('not one signer');
  return only;
}

/** What pkijs finds of signature, digest and chain. */
async function verdictOn(cms: SignedData, detached?: Uint8Array): Promise<boolean> {
  const data = detached === undefined ? {} : { data: new Uint8Array(detached).buffer };
  const checkDate = new Date('2026-01-01');
  return await cms.verify({ signer: 0, ...data, trustedCerts: [root], checkChain: true, checkDate });
}

function expectSignedData(cms: SignedData, algorithm: keyof typeof DIGEST_OID, contentType: string): void {
  expect(cms.version).toBe(1);
  expect(cms.encapContentInfo.eContentType).toBe(contentType);
  expect(cms.digestAlgorithms.map(({ algorithmId }) => algorithmId)).toEqual([DIGEST_OID[algorithm]]);
  expect(signerOf(cms).digestAlgorithm.algorithmId).toBe(DIGEST_OID[algorithm]);
  expect(cms.certificates).toHaveLength(2);
}

/** The values of an unsigned attribute, DER. */
function unsignedValues(cms: SignedData, type: string): readonly Uint8Array[] {
  const attributes = signerOf(cms).unsignedAttrs?.attributes ?? [];
  return attributes
    .filter((each) => each.type === type)
    .flatMap(({ values }) => values.map((value) => new Uint8Array(value.toBER())));
}

async function expectTimestamp(cms: SignedData, attribute: string): Promise<void> {
  const [token = new Uint8Array(), ...others] = unsignedValues(cms, attribute);
  expect(others).toEqual([]);
  const timestamp = read(token);
  const data = new Uint8Array(signerOf(cms).signature.valueBlock.valueHexView).buffer;
  const trustedCerts = [Certificate.fromBER(tokenSigner().der)];
  expect(await timestamp.verify({ signer: 0, data, trustedCerts })).toBe(true);
  const { eContent } = timestamp.encapContentInfo;
  const info = TSTInfo.fromBER(eContent instanceof OctetString ? eContent.getValue() : new ArrayBuffer(0));
  const digest = createHash('sha256').update(new Uint8Array(data)).digest();
  expect(Buffer.from(info.messageImprint.hashedMessage.valueBlock.valueHexView)).toEqual(digest);
}

describe.each([false, true])('with a timestamp: %s', (isStamped) => {
  test.each(ALGORITHMS)('pkijs verifies the signature of a program with %s', async (algorithm) => {
    const file = await signed(pe, readFixture('pe/hello.exe'), algorithm, 'replace', isStamped);
    const cms = read((await onlySignature(pe, file)).envelope.bytes);
    expectSignedData(cms, algorithm, SPC_INDIRECT_DATA);
    expect(await verdictOn(cms)).toBe(true);
    expect(unsignedValues(cms, TIMESTAMP.pe)).toHaveLength(isStamped ? 1 : 0);
    if (isStamped) await expectTimestamp(cms, TIMESTAMP.pe);
  });

  test.each(ALGORITHMS)(
    'pkijs verifies the signature of an archive with %s, over its signature file',
    async (algorithm) => {
      const file = await signed(jar, readFixture('jar/plain.jar'), algorithm, 'replace', isStamped);
      const cms = read((await onlySignature(jar, file)).envelope.bytes);
      expectSignedData(cms, algorithm, DATA);
      expect(await verdictOn(cms, contentsOf(file, 'META-INF/TEST_PUB.SF'))).toBe(true);
      expect(unsignedValues(cms, TIMESTAMP.jar)).toHaveLength(isStamped ? 1 : 0);
      if (isStamped) await expectTimestamp(cms, TIMESTAMP.jar);
    },
  );

  test('pkijs verifies a nested signature and the signature around it', async () => {
    const first = await signed(pe, readFixture('pe/hello.exe'), 'SHA256', 'replace', isStamped);
    const file = await signed(pe, first, 'SHA384', 'append', isStamped);
    const outer = read((await onlySignature(pe, file)).envelope.bytes);
    const [inner = new Uint8Array(), ...others] = unsignedValues(outer, NESTED_SIGNATURE);
    expect(others).toEqual([]);
    for (const [cms, algorithm] of [
      [outer, 'SHA256'],
      [read(inner), 'SHA384'],
    ] as const) {
      expectSignedData(cms, algorithm, SPC_INDIRECT_DATA);
      expect(await verdictOn(cms)).toBe(true);
      if (isStamped) await expectTimestamp(cms, TIMESTAMP.pe);
    }
  });
});

test('pkijs rejects another signature file, a changed signature and another root', async () => {
  const file = await signed(jar, readFixture('jar/plain.jar'), 'SHA256', 'replace', false);
  const cms = (await onlySignature(jar, file)).envelope.bytes;
  const content = contentsOf(file, 'META-INF/TEST_PUB.SF');
  await expect(verdictOn(read(cms), Buffer.concat([content, content]))).rejects.toMatchObject({ code: 15 });
  const damaged = Buffer.from(cms);
  damaged[damaged.length - 1] = (damaged.at(-1) ?? 0) ^ 1;
  expect(await verdictOn(read(damaged), content)).toBe(false);
  const data = new Uint8Array(content).buffer;
  const trustedCerts = [Certificate.fromBER(tokenSigner().der)];
  await expect(read(cms).verify({ signer: 0, data, checkChain: true, trustedCerts })).rejects.toMatchObject({
    code: 5,
  });
});

test.each(ALGORITHMS)('pkijs reads a timestamp request of %s, and encodes it to the same bytes', (algorithm) => {
  for (const policy of [undefined, '1.3.6.1.4.1.32473.1']) {
    for (const random of [randomBytes(8), Buffer.alloc(8), Buffer.alloc(8, 0xff)]) {
      const digest = createHash(NODE_DIGEST_NAME[algorithm]).update(random).digest();
      const request = buildTimestampRequest({ algorithm, digest, policy, nonce: nonceOf(random) });
      const read = TimeStampReq.fromBER(request);
      expect(Buffer.from(read.toSchema().toBER())).toEqual(Buffer.from(request));
      expect(read).toMatchObject({ version: 1, certReq: true });
      expect(read.reqPolicy).toBe(policy);
      expect(read.nonce?.toBigInt()).toBe(BigInt(`0x${random.toString('hex')}`) & 0x7fffffffffffffffn);
      expect(read.messageImprint.hashAlgorithm.algorithmId).toBe(DIGEST_OID[algorithm]);
      expect(Buffer.from(read.messageImprint.hashedMessage.valueBlock.valueHexView)).toEqual(digest);
    }
  }
});
