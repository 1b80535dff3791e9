import { DATA } from '../../../asn1/object-identifiers.ts';
import { type Element, octetsOf } from '../../../asn1/read.ts';
import type { ByteSource } from '../../../bytes/byte-source.ts';
import { lazy } from '../../../bytes/reuse.ts';
import { type CmsBudget, cmsBudget, parseSignedData, type SignedData } from '../../../cms/parse-signed-data.ts';
import { examineSigner } from '../../../cms/verify-signer.ts';
import type { WorkBudget } from '../../../crypto/work-budget.ts';
import { attempt, CodesignError, expectedError, orUndefined } from '../../../errors/codesign-error.ts';
import { broken, type Finding, rejected, unsupported } from '../../../errors/finding.ts';
import type { FoundSignature } from '../../../format/signature.ts';
import type { ZipEntry } from '../../../zip/directory.ts';
import { jarErrors } from '../errors.ts';
import { type JarLayout, LARGEST_MANIFEST, readWhole } from '../layout.ts';
import { type Manifest, readManifest } from '../manifest/manifest.ts';

export interface EmbeddedBlock extends Pick<FoundSignature, 'signer'> {
  readonly signedData: SignedData | undefined;
  readonly base: string;
  readonly entry: ZipEntry;
  readonly signatureFileEntry: ZipEntry;
  readonly cms: Uint8Array;
  readonly signedFile: Buffer;
  readSignatureFile(): Manifest | undefined;
  examineSigners(): readonly Finding[];
}

/**
 * Enough bytes for two signers with the largest permitted files. Above this limit, signature files are treated as empty,
 * and blocks as unreadable.
 */
export const MOST_BYTES = 2 * LARGEST_MANIFEST;
const NOTHING = Buffer.alloc(0);

export async function readBlocks(
  source: ByteSource,
  { signatureFiles }: JarLayout,
  budget?: WorkBudget,
): Promise<readonly EmbeddedBlock[]> {
  const found: EmbeddedBlock[] = [];
  let [room, blockBudget] = [MOST_BYTES, MOST_BYTES];
  const forBlocks = cmsBudget();
  for (const [base, { signatureFile, blocks }] of signatureFiles) {
    if (signatureFile === undefined || blocks.length === 0) continue;
    const read = signatureFile.size > room ? NOTHING : await readOrError(source, signatureFile);
    // A signature never matches an empty signature file.
    const signedFile = read instanceof CodesignError ? NOTHING : read;
    room -= signedFile.length;
    const readSignatureFile = lazy(() => orUndefined(() => readManifest(signedFile)));
    const place = { base, signatureFileEntry: signatureFile, signedFile, readSignatureFile };
    for (const entry of blocks) {
      const tooLarge = { name: entry.name, limit: MOST_BYTES };
      const bytes =
        entry.size > blockBudget ? jarErrors('jar-blocks-too-large', tooLarge) : await readOrError(source, entry);
      blockBudget -= bytes instanceof CodesignError ? 0 : bytes.length;
      found.push(readBlock({ ...place, entry }, bytes, forBlocks, budget));
    }
  }
  return found;
}

export function readOrError(source: ByteSource, entry: ZipEntry): Promise<Buffer | CodesignError> {
  return readWhole(source, entry).catch(expectedError);
}

type BlockPlace = Pick<EmbeddedBlock, 'base' | 'entry' | 'signatureFileEntry' | 'signedFile' | 'readSignatureFile'>;

function readBlock(
  place: BlockPlace,
  block: Buffer | CodesignError,
  room: CmsBudget,
  budget: WorkBudget | undefined,
): EmbeddedBlock {
  const { signedFile } = place;
  const read = block instanceof CodesignError ? block : attempt(() => parseSignedData(block, room));
  if (read instanceof CodesignError) {
    const unreadable = rejected(read, read.code, `The signature block cannot be read: ${read.message}.`);
    return {
      ...place,
      cms: block instanceof CodesignError ? NOTHING : block,
      signedData: undefined,
      signer: { name: '(unreadable signature)', certificate: undefined },
      examineSigners: () => [unreadable],
    };
  }
  return {
    ...place,
    cms: read.bytes,
    signedData: read,
    signer: read.signers[0],
    examineSigners: lazy(() => examineAllSigners(read, signedFile, budget)),
  };
}

/** Java ignores a block if one of its signers fails, and uses the content in a block instead of the signature file. */
export function examineAllSigners(
  signedData: SignedData,
  signedFile: Uint8Array,
  budget?: WorkBudget,
): readonly Finding[] {
  return [
    ...contentFindings(signedData, signedFile),
    ...signedData.signers.flatMap((signer) => examineSigner(signedData, signer, signedFile, { budget })),
  ];
}

function* contentFindings({ contentType, content }: SignedData, signedFile: Uint8Array): Generator<Finding> {
  if (contentType !== DATA) {
    const message = `The block's content has the type ${contentType}, so Java treats the archive as unsigned.`;
    yield unsupported('block-content-type', message);
  }
  if (content !== undefined && !isEncoded(content, signedFile)) {
    const message =
      "The block contains other content than the signature file, and Java uses the block's content instead.";
    yield broken('block-content-differs', message);
  }
}

function isEncoded(content: Element, expected: Uint8Array): boolean {
  const octets = orUndefined(() => octetsOf(content, 'content'));
  return octets !== undefined && Buffer.compare(octets, expected) === 0;
}
