/** The seam to the Remote Code Signing API: what signing needs of the service, in its own words. Types only. */

import type { DigestAlgorithm } from '../crypto/algorithms.ts';
import type { CodesignError } from '../errors/codesign-error.ts';
import type { ReportStatus } from './call-record.ts';
import type { Extra } from './messages.ts';

export type { ReportStatus } from './call-record.ts';

export interface SignRequest {
  /** Number of the code-signing certificate (API 2.2 `code`). */
  readonly code: string;
  /** The raw digest, as long as the algorithm makes it. */
  readonly digest: Uint8Array;
  readonly algorithm: DigestAlgorithm;
  readonly extra?: Extra | undefined;
  /** The file's name for this client's own records; not sent. */
  readonly file?: string | undefined;
  /**
   * Awaited for each attempt before the request is handed over; a connection may have to be opened after it. If it throws,
   * nothing is sent, and `sign` throws the same.
   */
  readonly beforeSend?: (() => Promise<void>) | undefined;
  /** Called for each attempt directly before its first byte is written. If it throws, as `beforeSend`. */
  readonly beforeWrite?: (() => void) | undefined;
  /**
   * Called after an attempt to which no answer of the service came: whether it is sent once more, although both may be counted.
   * Default: never.
   */
  readonly mayRepeat?: (() => boolean) | undefined;
  /**
   * Awaited after each attempt that will be retried, before the wait: it certainly made no signature, or `mayRepeat` allows it.
   * If it throws, there is no retry, and `sign` throws the same.
   */
  readonly beforeRetry?: ((error: CodesignError) => Promise<void>) | undefined;
}

export interface SignatureRecord {
  /**
   * The service's record id (API 2.4), for report-sign; undefined when the service gave none. An id of more than 256
   * characters, or one that is not printable or may hold a credential, is a digest with a note here: the service that gave it
   * reports it with the id itself.
   */
  readonly id: string | undefined;
  /** The raw RSA signature. */
  readonly signature: Uint8Array;
}

/**
 * When `signal` aborts, all ends except a request for a signature that was written: its answer is awaited. A report that is
 * given up is pending in the journal.
 */
export interface SigningService {
  /** So many requests for signatures will be under way concurrently: their connections open during the first one. */
  expect(requests: number): void;
  /**
   * Requests one signature. Retries only what certainly did not reach the service, or was rejected with 429, or with a 503
   * that carries the service's envelope or Retry-After; and what `mayRepeat` allows.
   */
  sign(request: SignRequest, signal?: AbortSignal): Promise<SignatureRecord>;
  /** Reports the final outcome; may be retried, because it never counts. `file`: as in SignRequest. */
  report(id: string, status: ReportStatus, signal?: AbortSignal, file?: string): Promise<void>;
  /** Closes the connections. */
  close(): Promise<void>;
}
