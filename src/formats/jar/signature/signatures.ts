import { digestAlgorithmOf } from '../../../asn1/algorithm-identifiers.ts';
import type { ByteSource } from '../../../bytes/byte-source.ts';
import { lazy } from '../../../bytes/reuse.ts';
import type { SignerInfo } from '../../../cms/parse-signed-data.ts';
import { cmsSignature, timestampsOf } from '../../../format/cms.ts';
import type { Detail, FoundSignature } from '../../../format/signature.ts';
import { type ReadTimestamps, timestampReader } from '../../../timestamp/read-timestamps.ts';
import { sectionDigest, wholeDigests } from '../manifest/agreement.ts';
import { type EmbeddedBlock, readBlocks } from './blocks.ts';
import { examineSignature, type SharedInfo } from './examine.ts';
import { JAR_PROFILE } from './new-signature.ts';
import { weakestAlgorithm } from './signature-file-info.ts';

/** Includes unreadable blocks, but not blocks without a signature file. */
export async function readSignatures(source: ByteSource, shared: SharedInfo): Promise<readonly FoundSignature[]> {
  const { layout, budget } = shared;
  const readTimestamps = timestampReader(budget);
  const blocks = await readBlocks(source, layout, budget);
  return blocks.map((block) => signatureOf(block, shared, readTimestamps));
}

function signatureOf(block: EmbeddedBlock, shared: SharedInfo, readTimestamps: ReadTimestamps): FoundSignature {
  const { cms, signedData } = block;
  const [first, ...others] = signedData?.signers ?? [];
  const algorithm = lazy(() => weakestOf(block, shared));
  const timestampsOfSigner = (signer: SignerInfo | undefined) =>
    signedData && signer ? timestampsOf(JAR_PROFILE, signedData, signer, readTimestamps) : [];
  const ofBlock = { cms, signedData, algorithm };
  const coSigners = others.map((signer, index) =>
    cmsSignature({
      ...ofBlock,
      signer,
      location: `${block.entry.name}, signer ${index + 2}`,
      timestamps: () => timestampsOfSigner(signer),
      // The findings of all signers are reported with the first signer.
      details: async () => [],
      examine: async () => [],
    }),
  );
  const timestamps = lazy(() => timestampsOfSigner(first));
  const all = () => [timestamps(), ...coSigners.map((one) => one.timestamps)];
  return cmsSignature({
    ...ofBlock,
    signer: first,
    location: block.entry.name,
    timestamps,
    contained: coSigners.map((signature) => ({ as: 'co-signer', signature })),
    details: async () => describeSignature(block, shared),
    examine: async () => examineSignature(block, all(), shared),
  });
}

function weakestOf({ signedData, readSignatureFile }: EmbeddedBlock, { infoOf, manifestAlgorithms }: SharedInfo) {
  const ofSigners = (signedData?.signers ?? []).map(({ digestAlgorithm }) => digestAlgorithmOf(digestAlgorithm));
  const signatureFile = readSignatureFile();
  const ofSignatureFile = signatureFile === undefined ? [] : infoOf(signatureFile).algorithms();
  return weakestAlgorithm(ofSigners, ofSignatureFile, manifestAlgorithms());
}

const LONGEST_DETAIL = 4096;

function describeSignature(block: EmbeddedBlock, { layout, infoOf }: SharedInfo): readonly Detail[] {
  const signatureFile = block.readSignatureFile();
  const details: Detail[] = [
    { name: 'signature name', value: block.base },
    { name: 'signature file', value: block.signatureFileEntry.name },
  ];
  if (signatureFile === undefined) return details;
  const { attributes } = signatureFile.main;
  const add = (name: string, value: string | undefined): void => {
    if (value !== undefined) details.push({ name, value: value.slice(0, LONGEST_DETAIL) });
  };
  add('signature version', attributes.get('signature-version'));
  add('created by', attributes.get('created-by'));
  const manifest = layout.manifest?.parsed.bytes;
  for (const digest of wholeDigests(signatureFile)) {
    const matches = manifest !== undefined && sectionDigest(digest.nodeName ?? '', [manifest]) === digest.value;
    add(`manifest digest (${digest.algorithm.toUpperCase()})`, `${digest.value} (${matches ? 'matches' : 'differs'})`);
  }
  const { length } = layout.signable;
  add('files covered', `${length - infoOf(signatureFile).coverage().uncovered.count} of ${length}`);
  return details;
}
