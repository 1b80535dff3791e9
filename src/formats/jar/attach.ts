import type { ByteSource } from '../../bytes/byte-source.ts';
import { parseSignedData, type SignedData } from '../../cms/parse-signed-data.ts';
import { keyOf } from '../../cms/verify-signer.ts';
import { CodesignError } from '../../errors/codesign-error.ts';
import { asClause } from '../../errors/finding.ts';
import { formatErrors } from '../../format/errors.ts';
import type { Embedding } from '../../format/signable-file.ts';
import type { ZipEntry } from '../../zip/directory.ts';
import { editArchive } from '../../zip/edit-archive.ts';
import type { JarExpectation } from './check.ts';
import type { JarLayout } from './layout.ts';
import { type EmbeddedBlock, examineAllSigners, MOST_BYTES, readBlocks, readOrError } from './signature/blocks.ts';
import { blockEntry, keepingPositions } from './stamp.ts';

export async function attachBlock(
  source: ByteSource,
  layout: JarLayout,
  cms: Uint8Array,
): Promise<Embedding & JarExpectation> {
  const signedData = parseSignedData(cms);
  const sealed = signedData.bytes;
  const existing = await readBlocks(source, layout);
  const blocksOf = (base: string) => existing.filter((block) => block.base === base);
  const isThere = (base: string) => blocksOf(base).some((block) => Buffer.compare(block.cms, sealed) === 0);
  const signedFiles = await findSigned(source, layout, signedData);
  // Several signers can have identical signature files. The new block must not replace the block of another signer.
  const chosen =
    signedFiles.find(({ base }) => isThere(base)) ??
    signedFiles.find(({ base }) => blocksOf(base).some((block) => hasSameSigner(block, signedData))) ??
    signedFiles.find(({ base }) => blocksOf(base).length === 0) ??
    signedFiles[0];
  const { base, signatureFile } = chosen;
  const cmsOf = (blocks: readonly EmbeddedBlock[]) => blocks.map((block) => block.cms);
  if (isThere(base)) return keepingPositions([], sealed, cmsOf(existing));

  const blocks = blocksOf(base);
  const extension = extensionFor(signedData);
  const old = blocks.find(({ entry }) => entry.name.toUpperCase().endsWith(extension));
  // If no block has the same type of key, all blocks of the signature file are replaced.
  const leaving = old === undefined ? blocks : [old];
  const place = leaving[0]?.entry ?? signatureFile;
  const name = old?.entry.name ?? signatureFile.name.slice(0, -'.SF'.length) + extension;
  const change = {
    remove: new Set(leaving.map(({ entry }) => entry)),
    first: [],
    after: new Map([[place, blockEntry({ name, flags: signatureFile.flags }, sealed)]]),
  };
  const staying = existing.filter((block) => !leaving.includes(block));
  return keepingPositions(editArchive(layout.archive, change), sealed, [...cmsOf(staying), sealed]);
}

interface SignedFile {
  readonly base: string;
  readonly signatureFile: ZipEntry;
}

function hasSameSigner({ signer }: EmbeddedBlock, { signers: [{ certificate }] }: SignedData): boolean {
  return Buffer.compare(signer.certificate ?? NOTHING, certificate ?? NOTHING) === 0;
}

const NOTHING = new Uint8Array();

async function findSigned(
  source: ByteSource,
  { signatureFiles }: JarLayout,
  signedData: SignedData,
): Promise<readonly [SignedFile, ...SignedFile[]]> {
  let reason = NO_SIGNATURE_FILE;
  const found: SignedFile[] = [];
  let room = MOST_BYTES;
  for (const [base, { signatureFile }] of signatureFiles) {
    if (signatureFile === undefined || signatureFile.size > room) continue;
    room -= signatureFile.size;
    const signedFile = await readOrError(source, signatureFile);
    if (signedFile instanceof CodesignError) continue;
    const [finding, ...others] = examineAllSigners(signedData, signedFile);
    if (finding === undefined) {
      found.push({ base, signatureFile });
    } else if (![finding, ...others].some(({ code }) => code === 'message-digest-differs')) {
      // A block with the right digest belongs to this signature file, so its first defect explains the error best.
      reason = `${asClause(finding)} (${signatureFile.name})`;
    }
  }
  const [first, ...others] = found;
  if (first === undefined) throw formatErrors('not-its-signature', { reason });
  return [first, ...others];
}

const NO_SIGNATURE_FILE =
  'it does not belong to any signature file (.SF) in the archive. A signature block needs its unchanged .SF file';

/** jarsigner uses these extensions. */
function extensionFor({ signers: [{ certificate }] }: SignedData): string {
  const type = certificate && keyOf(certificate)?.asymmetricKeyType;
  if (type === 'rsa' || type === 'rsa-pss') return '.RSA';
  return type === 'dsa' ? '.DSA' : '.EC';
}
