import type { AuthenticodeParts } from '../../../src/authenticode/read-authenticode.ts';
import { examineSigner } from '../../../src/cms/verify-signer.ts';

/** Of the signature's own structures and value; neither the file's content nor trust is checked. */
export function isValid({ signedData, digestedContent }: AuthenticodeParts): boolean {
  return examineSigner(signedData, signedData.signers[0], digestedContent).length === 0;
}
