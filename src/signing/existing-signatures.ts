/** Whether a file carries the very signature that it is about to be given beside others: the run that put it there could not note it. */

import { speaksAgainst } from '../errors/finding.ts';
import type { SignableFile } from '../formats/format.ts';
import type { Timestamp } from '../timestamp/timestamp.ts';
import { flatten, type PlannedFile } from './plan.ts';
import type { GivenSignature } from './service/signatures.ts';

/** What stands in the file; `timestamp` is undefined for a signature without one. */
export interface AlreadyThere {
  readonly timestamp: Timestamp | undefined;
}

/**
 * Asked of a signature that was given earlier: it must not stand in the file twice. Undefined also where it has no
 * timestamp and shall have one.
 */
export async function findAlreadyThere(
  { mode, path, output }: PlannedFile,
  file: SignableFile,
  { reused, record }: GivenSignature,
  isStamped: boolean,
): Promise<AlreadyThere | undefined> {
  // A result elsewhere is a file that is still to be made; what gives way to the new signature is not there twice.
  if (!reused || mode !== 'append' || path !== output) return undefined;
  for (const signature of flatten(await file.signatures())) {
    const value = signature.signedData?.signers[0].signature;
    if (value === undefined || Buffer.compare(value, record.signature) !== 0) continue;
    const [timestamp] = signature.timestamps;
    if (isStamped && timestamp === undefined) continue;
    if (!speaksAgainst(await signature.examine(), 'integrity')) return { timestamp };
  }
  return undefined;
}
