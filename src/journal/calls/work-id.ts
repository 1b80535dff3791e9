/** The name of a piece of work: the same for the same origin, code, algorithm and digest, and for no other. */

import { createHash } from 'node:crypto';
import type { Work } from '../journal.ts';
import type { WorkOnRecord } from './steps.ts';

/** 64 hexadecimal digits. JSON keeps the parts apart, whatever characters they hold. */
export function workId({ origin, code, algorithm, digest }: Work): string {
  const parts = JSON.stringify([origin, code, algorithm, Buffer.from(digest).toString('hex')]);
  return createHash('sha256').update(parts).digest('hex');
}

export function toRecord({ origin, code, algorithm, digest }: Work): WorkOnRecord {
  return { origin, code, algorithm, digest: Buffer.from(digest).toString('hex') };
}

export function fromRecord({ origin, code, algorithm, digest }: WorkOnRecord): Work {
  return { origin, code, algorithm, digest: new Uint8Array(Buffer.from(digest, 'hex')) };
}
