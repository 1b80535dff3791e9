/** What signatures are made of, by itself: manifests, CMS, and the answers of timestamp authorities. */

import { Readable } from 'node:stream';
import { findAuthenticode } from '../../../src/authenticode/read-authenticode.ts';
import { parseSignedData, type SignedData } from '../../../src/cms/parse-signed-data.ts';
import { changeUnsignedAttributes } from '../../../src/cms/unsigned-attributes.ts';
import { examineSigner } from '../../../src/cms/verify-signer.ts';
import { isObjection } from '../../../src/errors/finding.ts';
import { jar } from '../../../src/formats/jar/index.ts';
import { findDisagreement, sectionsByName, wholeDigests } from '../../../src/formats/jar/manifest/agreement.ts';
import { withoutDigests } from '../../../src/formats/jar/manifest/complete.ts';
import { nodeDigestName } from '../../../src/formats/jar/manifest/digest-names.ts';
import { type Manifest, readManifest } from '../../../src/formats/jar/manifest/manifest.ts';
import { pe } from '../../../src/formats/pe/index.ts';
import { readSignatureFile } from '../../../src/signing/changes/attach.ts';
import { checkAnswer } from '../../../src/timestamp/check-answer.ts';
import { readCounterSignature } from '../../../src/timestamp/read-timestamps.ts';
import { readToken } from '../../../src/timestamp/read-token.ts';
import { readTimestampResponse } from '../../../src/timestamp/request.ts';
import { inspectAttributes } from '../../../src/verifying/inspect-attributes.ts';
import { inspectCertificates } from '../../../src/verifying/inspect-certificates.ts';
import { pemBlock } from '../../support/signed-files/pki.ts';
import { unzip } from '../../unit/formats/jar/simple-zip.ts';
import { openBytes } from '../../unit/formats/support/sign-bytes.ts';
import { ASKED, type Bases, LARGEST_UNPACKED } from '../bases.ts';
import { answering, require, requireSaid } from '../check-case.ts';
import { mutateDer } from '../mutations/der.ts';
import { mutateLines } from '../mutations/lines.ts';
import { pick } from '../mutations/random.ts';
import type { TargetDefinition } from '../target.ts';

export const manifestTarget: TargetDefinition = {
  share: 21_000,
  async open({ bases }) {
    const archives = bases.all(['jar', 'golden', 'fuzz'], ['.jar'], ['jar']);
    const texts = archives.flatMap(linesIn);
    return {
      make: (random) => mutateLines(pick(random, texts), random),
      run: async (input) => readLines(Buffer.from(input.buffer, input.byteOffset, input.byteLength)),
    };
  },
};

function linesIn(archive: Buffer): readonly Buffer[] {
  try {
    const found = unzip(archive).filter(({ name }) => /^META-INF\/[^/]*\.(MF|SF)$/i.test(name));
    return found.map(({ contents }) => contents).filter(({ length }) => length <= LARGEST_UNPACKED);
  } catch {
    return []; // not simple enough for this reader
  }
}

async function readLines(bytes: Buffer): Promise<string> {
  const read = await answering(() => readManifest(bytes));
  if ('code' in read) return read.code;
  const manifest = read.value;
  requireInOrder(manifest);
  sectionsByName(manifest);
  wholeDigests(manifest);
  // As if it signed itself: what both are is never read differently.
  await answering(() => findDisagreement(manifest, manifest));
  const stripped = withoutDigests(manifest);
  if (stripped === undefined) return 'good, without digests';
  const again = readManifest(stripped);
  const left = [...again.sections()].flatMap(({ digests }) => digests.map(({ algorithm }) => algorithm));
  require(left.every(
    (algorithm) => nodeDigestName(algorithm) === undefined,
  ), 'a digest is left after all were taken out');
  return 'good';
}

/** Places are in the file's order, and within it. */
function requireInOrder({ bytes, main, sections }: Manifest): void {
  let position = main.start;
  require(main.start <= main.end && main.end <= bytes.length, 'the main section is not in the file');
  position = main.end;
  for (const { start, end, nameEnd, contentEnd, digests } of sections()) {
    require(start >= position, 'sections overlap');
    require(start <= nameEnd && nameEnd <= contentEnd && contentEnd <= end, 'the places of a section are in disorder');
    require(end <= bytes.length, 'a section is not in the file');
    for (const digest of digests)
      require(nameEnd <= digest.start && digest.end <= contentEnd, 'a digest is not in its section');
    position = end;
  }
}

export const cmsTarget: TargetDefinition = {
  share: 14_000,
  async open({ bases }) {
    const blocks = await blocksIn(bases);
    return { make: (random) => mutateDer(pick(random, blocks), random), run: readCms };
  },
};

async function blocksIn(bases: Bases): Promise<readonly Uint8Array[]> {
  const found: Uint8Array[] = [];
  for (const [format, endings, corpus] of [
    [pe, ['.exe'], 'pe-special'],
    [jar, ['.jar'], 'jar-special'],
  ] as const) {
    for (const file of bases.all(['golden', 'fuzz'], endings, [corpus])) {
      const opened = await answering(async () => (await openBytes(format, file)).signatures());
      if ('value' in opened) found.push(...opened.value.map(({ envelope }) => envelope.bytes));
    }
  }
  return found.filter(({ length }) => length <= LARGEST_UNPACKED);
}

async function readCms(input: Uint8Array): Promise<string> {
  const { parts } = findAuthenticode(input);
  if (parts !== undefined) requireSaid(parts.signedData.signers[0].name, 'name of the signer');
  await answering(() =>
    changeUnsignedAttributes(input, (attributes) => attributes.map(({ element }) => element.bytes)),
  );
  const pem = Buffer.from(pemBlock('PKCS7', input));
  for (const file of [Buffer.from(input), pem])
    await answering(() => readSignatureFile(async () => Readable.from([file]), 'file'));
  const read = await answering(() => parseSignedData(input));
  if ('code' in read) return read.code;
  const signedData = read.value;
  require(signedData.bytes.length + signedData.trailingLength ===
    input.length, 'bytes of the CMS are not accounted for');
  inspectCertificates(
    signedData.certificates,
    signedData.signers.map(({ certificate }) => certificate),
  );
  for (const signer of signedData.signers) {
    requireSaid(signer.name, 'name of a signer');
    inspectAttributes([...signer.signedAttributes, ...signer.unsignedAttributes]);
  }
  return examine(signedData);
}

async function examine(signedData: SignedData): Promise<string> {
  const findings = signedData.signers.flatMap((signer) => {
    return examineSigner(signedData, signer, signedData.content?.contents ?? new Uint8Array());
  });
  for (const { message, code } of findings) requireSaid(message, code);
  return findings[0]?.code ?? 'good';
}

export const timestampTarget: TargetDefinition = {
  share: 14_000,
  async open({ bases }) {
    const answers = ['granted.tsr', 'rejected.tsr', 'streamed.der', 'countersignature.der'].map((name) =>
      bases.read(`fuzz/base-${name}`),
    );
    const [granted = Buffer.alloc(0)] = answers;
    const certificates = parseSignedData(tokenIn(granted)).certificates;
    const now = readToken(tokenIn(granted), ASKED.signatureValue).info?.time ?? new Date();
    const most = [granted, granted, ...answers];
    return {
      make: (random) => mutateDer(pick(random, most), random),
      run: async (input) => {
        const { timestamp, info } = readToken(input, ASKED.signatureValue);
        const counterSignature = readCounterSignature(input, ASKED.signatureValue, certificates);
        for (const { message, code } of [...timestamp.findings, ...counterSignature.findings])
          requireSaid(message, code);
        require((info === undefined) === (timestamp.time === undefined), 'a time out of nowhere');
        const checked = checkAnswer(input, { ...ASKED, now });
        if ('token' in checked) {
          const { findings } = readToken(checked.token, ASKED.signatureValue).timestamp;
          require(findings.every((finding) => !isObjection(finding)), 'a token was taken that speaks against itself');
          return 'good';
        }
        requireSaid(checked.refusal, 'refusal');
        return checked.refusal.slice(0, 24);
      },
    };
  },
};

function tokenIn(answer: Uint8Array): Uint8Array {
  const response = readTimestampResponse(answer);
  if ('refusal' in response) throw new Error('a base without a token');
  return response.token;
}
