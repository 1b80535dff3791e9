/** The signatures that are in a JAR: signature file and block, and whether the two belong together. */

import { DATA } from '../../../asn1/object-identifiers.ts';
import { type Element, octetsOf } from '../../../asn1/read.ts';
import type { ByteSource } from '../../../bytes/byte-source.ts';
import { limitAttributes, limitCertificates, type TakeAttributes, type TakeCertificates } from '../../../cms/limits.ts';
import { parseSignedData, type SignedData, signerNameOf } from '../../../cms/parse-signed-data.ts';
import { examineSigner } from '../../../cms/verify-signer.ts';
import type { WorkBudget } from '../../../crypto/work-budget.ts';
import { CodesignError } from '../../../errors/codesign-error.ts';
import type { Finding } from '../../../errors/finding.ts';
import type { ZipEntry } from '../../../zip/directory.ts';
import { onceOf } from '../../once.ts';
import { jarErrors } from '../errors.ts';
import { type JarLayout, LARGEST_MANIFEST, readWhole } from '../layout.ts';
import { type Manifest, readManifest } from '../manifest/manifest.ts';

export interface EmbeddedBlock {
  /** The name of its files, without extension, in upper case. */
  readonly base: string;
  /** The block's own. */
  readonly entry: ZipEntry;
  readonly signatureFileEntry: ZipEntry;
  readonly cms: Uint8Array;
  /** Undefined when it cannot be read. */
  readonly signedData: SignedData | undefined;
  /** DER; undefined when the block does not carry it or cannot be read. */
  readonly signerCertificate: Uint8Array | undefined;
  /** Raw: may hold control characters. */
  readonly signerName: string;
  /** The signature file's bytes. */
  readonly signedFile: Buffer;
  /** Undefined when it cannot be read. */
  readSignatureFile(): Manifest | undefined;
  /** What is wrong with the block as the signature of the signature file. Not the manifest, not the entries; not trust. */
  examineSigners(): readonly Finding[];
  /** Whether that is nothing. */
  verifies(): boolean;
}

/**
 * Of all signature files together, and of all blocks together: of two signers with the largest there may be. A signature
 * file beyond is as good as empty, a block beyond is unreadable.
 */
export const MOST_BYTES = 2 * LARGEST_MANIFEST;
const NOTHING = Buffer.alloc(0);

/** One for each block that has a signature file, in the directory's order. */
export async function readBlocks(
  source: ByteSource,
  { signatureFiles }: JarLayout,
  budget?: WorkBudget,
): Promise<readonly EmbeddedBlock[]> {
  const found: EmbeddedBlock[] = [];
  let [room, blockRoom] = [MOST_BYTES, MOST_BYTES];
  const forBlocks: BlockRoom = { takeCertificates: limitCertificates(), takeAttributes: limitAttributes() };
  for (const [base, { signatureFile, blocks }] of signatureFiles) {
    if (signatureFile === undefined || blocks.length === 0) continue;
    const signedFile = signatureFile.size > room ? NOTHING : await tryRead(source, signatureFile);
    room -= signedFile.length;
    const readSignatureFile = onceOf(() => tryReadManifest(signedFile));
    const place = { base, signatureFileEntry: signatureFile, signedFile, readSignatureFile };
    for (const entry of blocks) {
      const bytes = entry.size > blockRoom ? tooLarge(entry) : await readOr(source, entry);
      blockRoom -= bytes instanceof CodesignError ? 0 : bytes.length;
      found.push(readBlock({ ...place, entry }, bytes, forBlocks, budget));
    }
  }
  return found;
}

/** What cannot be read is as good as empty: then it verifies nothing. */
async function tryRead(source: ByteSource, entry: ZipEntry): Promise<Buffer> {
  const read = await readOr(source, entry);
  return read instanceof CodesignError ? NOTHING : read;
}

/** A block that is larger than the others leave. */
function tooLarge({ name }: ZipEntry): CodesignError {
  return jarErrors('jar-blocks-too-large', { name, limit: MOST_BYTES });
}

/** The contents, or why they cannot be had. */
async function readOr(source: ByteSource, entry: ZipEntry): Promise<Buffer | CodesignError> {
  try {
    return await readWhole(source, entry);
  } catch (thrown) {
    if (thrown instanceof CodesignError) return thrown;
    throw thrown;
  }
}

/** What is left of the bounds on a file: its blocks use it up together. */
interface BlockRoom {
  readonly takeCertificates: TakeCertificates;
  readonly takeAttributes: TakeAttributes;
}

type BlockPlace = Pick<EmbeddedBlock, 'base' | 'entry' | 'signatureFileEntry' | 'signedFile' | 'readSignatureFile'>;

function readBlock(
  place: BlockPlace,
  block: Buffer | CodesignError,
  room: BlockRoom,
  budget: WorkBudget | undefined,
): EmbeddedBlock {
  const { signedFile } = place;
  const read = block instanceof CodesignError ? block : tryParse(block, room);
  if (read instanceof CodesignError) {
    const unreadable: Finding = {
      code: read.code,
      message: `The signature block cannot be read: ${read.message}.`,
      against: 'integrity',
    };
    return {
      ...place,
      cms: block instanceof CodesignError ? NOTHING : block,
      signedData: undefined,
      signerCertificate: undefined,
      signerName: '(unreadable signature)',
      examineSigners: () => [unreadable],
      verifies: () => false,
    };
  }
  const examineSigners = onceOf(() => examineAllSigners(read.signedData, signedFile, budget));
  return {
    ...place,
    ...read,
    cms: read.signedData.bytes,
    signerCertificate: read.signedData.signers[0].certificate,
    examineSigners,
    verifies: () => examineSigners().length === 0,
  };
}

/**
 * Java verifies every signer, and takes a block for no signature when one of them does not. Content that the block carries
 * Java takes for the signature file, whatever the archive holds under that name.
 */
export function examineAllSigners(
  signedData: SignedData,
  signedFile: Uint8Array,
  budget?: WorkBudget,
): readonly Finding[] {
  return [
    ...aboutContent(signedData, signedFile),
    ...signedData.signers.flatMap((signer) =>
      examineSigner(signedData, signer, signedFile, { withoutAttributes: true, budget }),
    ),
  ];
}

function* aboutContent({ contentType, content }: SignedData, signedFile: Uint8Array): Generator<Finding> {
  if (contentType !== DATA) {
    const message = `The block's content has the type ${contentType}, which Java takes for no signature.`;
    yield { code: 'block-content-type', message, against: 'integrity' };
  }
  if (content !== undefined && !isEncoded(content, signedFile)) {
    const message =
      'The block carries other content than the signature file, and Java takes that for the signature file.';
    yield { code: 'block-content-differs', message, against: 'integrity' };
  }
}

function isEncoded(content: Element, expected: Uint8Array): boolean {
  try {
    return Buffer.compare(octetsOf(content, 'content'), expected) === 0;
  } catch (thrown) {
    if (thrown instanceof CodesignError) return false;
    throw thrown;
  }
}

function tryParse(
  block: Buffer,
  { takeCertificates, takeAttributes }: BlockRoom,
): (Pick<EmbeddedBlock, 'signerName'> & { readonly signedData: SignedData }) | CodesignError {
  try {
    const signedData = parseSignedData(block, takeAttributes);
    takeCertificates(signedData);
    return { signedData, signerName: signerNameOf(signedData.signers[0]) };
  } catch (thrown) {
    if (thrown instanceof CodesignError) return thrown;
    throw thrown;
  }
}

export function tryReadManifest(bytes: Buffer): Manifest | undefined {
  try {
    return readManifest(bytes);
  } catch (thrown) {
    if (thrown instanceof CodesignError) return undefined;
    throw thrown;
  }
}
