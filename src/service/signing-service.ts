/** The interface to the Remote Code Signing API: the operations that signing needs. Types only. */

import type { DigestAlgorithm } from '../crypto/algorithms.ts';
import type { CodesignError } from '../errors/codesign-error.ts';
import type { ReportStatus } from './call-record.ts';
import type { Extra } from './messages.ts';

export type { ReportStatus } from './call-record.ts';

export interface SignRequest {
  /** Number of the code-signing certificate (API 2.2 `code`). */
  readonly code: string;
  /** The raw digest, with the length that belongs to the algorithm. */
  readonly digest: Uint8Array;
  readonly algorithm: DigestAlgorithm;
  readonly extra?: Extra | undefined;
  /** The file's name for records of this client; never sent. */
  readonly file?: string | undefined;
  /**
   * Awaited for each attempt before the request is passed on. A connection may have to be opened after that. If it
   * throws, nothing is sent, and `sign` throws the same error.
   */
  readonly beforeSend?: (() => Promise<void>) | undefined;
  /**
   * Called for each attempt directly before its first byte is written. If it throws, the effect is the same as for
   * `beforeSend`.
   */
  readonly beforeWrite?: (() => void) | undefined;
  /**
   * Called after an attempt without an answer of the service. Returns whether the request is retried although both may
   * be counted. Default: never.
   */
  readonly mayRepeat?: (() => boolean) | undefined;
  /**
   * Awaited before the wait for each retry. The attempt certainly made no signature, or `mayRepeat` allowed the retry.
   * If it throws, there is no retry, and `sign` throws the same error.
   */
  readonly beforeRetry?: ((error: CodesignError) => Promise<void>) | undefined;
}

export interface SignatureRecord {
  /**
   * The service's record id (API 2.4), for report-sign; undefined if the service returned none. A digest with a note
   * replaces an id that has more than 256 characters, is not printable, or may contain a credential. The same client
   * object can still report it with the id itself.
   */
  readonly id: string | undefined;
  /** The raw RSA signature. */
  readonly signature: Uint8Array;
}

/**
 * When `signal` aborts, everything ends except a signature request that was written, whose answer is awaited. A report
 * that was aborted stays pending in the journal.
 */
export interface SigningService {
  /** Announces this number of concurrent signature requests, so their connections open during the first one. */
  expect(requests: number): void;
  /**
   * Requests one signature. Retries a request only if it certainly did not reach the service, if it was rejected with
   * 429, or with a 503 that has the service's envelope or Retry-After, and if `mayRepeat` allows it.
   */
  sign(request: SignRequest, signal?: AbortSignal): Promise<SignatureRecord>;
  /** Reports the final outcome. May be retried, because it never counts. `file`: as in SignRequest. */
  report(id: string, status: ReportStatus, signal?: AbortSignal, file?: string): Promise<void>;
  /** Closes the connections. */
  close(): Promise<void>;
}
