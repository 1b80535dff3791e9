import { speaksAgainst } from '../errors/finding.ts';
import { type EmbeddedSignature, flatten, type SignableFile } from '../formats/format.ts';

/** Also those that signed together with them, or countersigned. Each once: a second signature with another algorithm is usually by the same one. */
export function signerNames(signatures: readonly EmbeddedSignature[]): string[] {
  const signers = flatten(signatures).flatMap((signature) => [signature, ...(signature.coSigners ?? [])]);
  return [...new Set(signers.map(({ signerName }) => signerName))];
}

/** Whether one of them is intact, and by this certificate if one is given. A signature in a file that `verify` rejects as a whole is not intact either. */
export async function hasIntactBy(
  opened: SignableFile,
  signatures: readonly EmbeddedSignature[],
  leaf: Uint8Array | undefined,
): Promise<boolean> {
  for (const signature of flatten(signatures)) {
    const { signerCertificate } = signature;
    if (leaf !== undefined && (signerCertificate === undefined || Buffer.compare(signerCertificate, leaf) !== 0))
      continue;
    if (await isIntact(signature)) return !speaksAgainst(await opened.examine(), 'integrity');
  }
  return false;
}

export async function isIntact(signature: EmbeddedSignature): Promise<boolean> {
  return !speaksAgainst(await signature.examine(), 'integrity');
}
