/** A bound on the certificates of all signatures of a file together: each is read, and tried as an issuer of others. */

import { cmsErrors } from './errors.ts';
import type { SignedData } from './parse-signed-data.ts';

/** Each signature has about four, without those of its timestamps, of less than 2 KiB. */
const MAX_CERTIFICATES = 300;
const USUAL_LENGTH = 2048;

/** Takes the room that a signature's certificates need. Throws `cms-too-large` when there is no more. */
export type TakeRoom = (signedData: SignedData) => void;

/** For the signatures of one file. */
export function roomForCertificates(): TakeRoom {
  let left = MAX_CERTIFICATES;
  return ({ certificates }) => {
    for (const { length } of certificates) left -= Math.ceil(length / USUAL_LENGTH);
    if (left < 0) throw cmsErrors('cms-too-large', { limit: MAX_CERTIFICATES, what: 'certificates in all' });
  };
}
