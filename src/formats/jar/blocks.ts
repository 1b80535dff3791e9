/** The signatures that are in a JAR: signature file and block, and whether the two belong together. */

import type { ByteSource } from '../../bytes/byte-source.ts';
import { parseSignedData } from '../../cms/parse-signed-data.ts';
import { signerNameOf } from '../../cms/signer-name.ts';
import { signerVerifies } from '../../cms/verify-signer.ts';
import { CodesignError } from '../../errors/codesign-error.ts';
import type { ZipEntry } from '../../zip/entry.ts';
import { type JarLayout, LARGEST_MANIFEST, readWhole } from './layout.ts';
import { type Manifest, readManifest } from './manifest.ts';

export interface EmbeddedBlock {
  /** The name of its files, without extension, in upper case. */
  readonly base: string;
  readonly cms: Uint8Array;
  /** DER; undefined when the block does not carry it or cannot be read. */
  readonly signerCertificate: Uint8Array | undefined;
  /** Raw: may hold control characters. */
  readonly signerName: string;
  /** The signature file's bytes. */
  readonly signedFile: Buffer;
  /** Undefined when it cannot be read. */
  readSignatureFile(): Manifest | undefined;
  /** Whether the block is the signature of the signature file. Not the manifest, not the entries; not trust. */
  verifies(): boolean;
}

/** Of all signature files together: of four signers with the largest there may be. What is beyond is as good as empty. */
const MOST_BYTES = 4 * LARGEST_MANIFEST;
const NOTHING = Buffer.alloc(0);

/** One for each block that has a signature file, in the directory's order. */
export async function readBlocks(source: ByteSource, { signatureFiles }: JarLayout): Promise<readonly EmbeddedBlock[]> {
  const found: EmbeddedBlock[] = [];
  let room = MOST_BYTES;
  for (const [base, { signatureFile, blocks }] of signatureFiles) {
    if (signatureFile === undefined || blocks.length === 0) continue;
    const signedFile = signatureFile.size > room ? NOTHING : await tryRead(source, signatureFile);
    room -= signedFile.length;
    for (const block of blocks) found.push(readBlock(base, await tryRead(source, block), signedFile));
  }
  return found;
}

/** What cannot be read is as good as empty: then it verifies nothing. */
async function tryRead(source: ByteSource, entry: ZipEntry): Promise<Buffer> {
  return (await unlessRefused(() => readWhole(source, entry))) ?? Buffer.alloc(0);
}

function readBlock(base: string, block: Buffer, signedFile: Buffer): EmbeddedBlock {
  let parsed: Manifest | undefined;
  const shared = {
    base,
    signedFile,
    readSignatureFile() {
      parsed ??= tryReadManifest(signedFile);
      return parsed;
    },
  };
  try {
    const signedData = parseSignedData(block);
    const [signer] = signedData.signers;
    return {
      ...shared,
      cms: signedData.bytes,
      signerCertificate: signer.certificate,
      signerName: signerNameOf(signer),
      verifies: () => signerVerifies(signedData, signer, signedFile, { withoutAttributes: true }),
    };
  } catch (thrown) {
    if (!(thrown instanceof CodesignError)) throw thrown;
    const unreadable = { cms: block, signerCertificate: undefined, signerName: '(unreadable signature)' };
    return { ...shared, ...unreadable, verifies: () => false };
  }
}

function tryReadManifest(bytes: Buffer): Manifest | undefined {
  try {
    return readManifest(bytes);
  } catch (thrown) {
    if (thrown instanceof CodesignError) return undefined;
    throw thrown;
  }
}

async function unlessRefused<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (thrown) {
    if (thrown instanceof CodesignError) return undefined;
    throw thrown;
  }
}
