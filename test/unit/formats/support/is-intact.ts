/** What an examination says, in one word. */

import { CodesignError } from '../../../../src/errors/codesign-error.ts';
import { hasFindingAgainst } from '../../../../src/errors/finding.ts';
import type { Format } from '../../../../src/format/format.ts';
import type { FoundSignature } from '../../../../src/format/signature.ts';
import { openBytes } from './sign-bytes.ts';

/** Whether nothing that is found speaks against the signature's integrity. False without a signature. */
export async function isIntact(signature: FoundSignature | undefined): Promise<boolean> {
  return signature !== undefined && !hasFindingAgainst(await signature.examine(), 'integrity');
}

/** Whether the file can be opened, and nothing speaks against the integrity of the file and its first signature. */
export async function isAccepted(format: Format, bytes: Buffer, name?: string): Promise<boolean> {
  try {
    const file = await openBytes(format, bytes, name);
    return (await isIntact((await file.signatures())[0])) && !hasFindingAgainst(await file.examine(), 'integrity');
  } catch (thrown) {
    if (thrown instanceof CodesignError) return false;
    throw thrown;
  }
}

/** The codes of what is found wrong with it, or odd, in order. */
export async function codesOf(signature: FoundSignature | undefined): Promise<readonly string[]> {
  return (await signature?.examine())?.map(({ code }) => code) ?? ['no signature'];
}

/** The same for the first signature in a file. */
export async function codesIn(format: Format, bytes: Uint8Array, name?: string): Promise<readonly string[]> {
  return codesOf((await (await openBytes(format, bytes, name)).signatures())[0]);
}
