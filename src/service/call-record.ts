/** The client's own record of a call (API 7, rule 5): what may be kept of it, nothing by which anything could be signed or asked. */

import type { DigestAlgorithm } from '../crypto/algorithms.ts';

export type Operation = 'sign' | 'report-sign';

/** API 2.5: 1 when the client's processing succeeded, 2 when it failed. */
export type ReportStatus = 1 | 2;

/** What a call is about, as far as that may be told. */
export interface CallSubject {
  /** Name of the file, masked as the user wants it. */
  readonly file: string | undefined;
  /** Number of the certificate; undefined for a report, which names none. */
  readonly code: string | undefined;
  readonly digest: MaskedDigest | undefined;
  /** The record that is reported. */
  readonly record: string | undefined;
  /** What is reported. */
  readonly status: ReportStatus | undefined;
}

export interface MaskedDigest {
  readonly algorithm: DigestAlgorithm;
  /** Bytes. */
  readonly length: number;
  /** The first and last four characters of its Base64. */
  readonly masked: string;
}

/** One attempt of one call. */
export interface CallRecord extends CallSubject {
  /** `check`: asks to sign what must be refused, so as to learn whether the credentials are taken. */
  readonly operation: Operation | 'check';
  /** When the request was started, ISO 8601. */
  readonly time: string;
  /** From 1. */
  readonly attempt: number;
  /** Scheme, host and port of the service. */
  readonly origin: string;
  /** Undefined where no answer came. */
  readonly httpStatus: number | undefined;
  /** Undefined where the answer was not the service's. */
  readonly serviceCode: number | undefined;
  /** `ok`, or the code of the error. */
  readonly result: string;
  readonly milliseconds: number;
}

const SHOWN = 4;

export function maskDigest(digest: Uint8Array, algorithm: DigestAlgorithm): MaskedDigest {
  const text = Buffer.from(digest).toString('base64');
  return { algorithm, length: digest.length, masked: `${text.slice(0, SHOWN)}…${text.slice(-SHOWN)}` };
}
