import type { DigestAlgorithm } from '../crypto/algorithms.ts';
import type { CodesignError } from '../errors/codesign-error.ts';
import type { ReportStatus } from './call-record.ts';
import type { Extra } from './messages.ts';

export type { ReportStatus } from './call-record.ts';

export interface SignRequest {
  readonly code: string;
  readonly digest: Uint8Array;
  readonly algorithm: DigestAlgorithm;
  readonly extra?: Extra | undefined;
  /** File name for the records that this client keeps. It is never sent. */
  readonly file?: string | undefined;
  /**
   * Awaited for each attempt, before the request is passed on. A connection may still have to be opened after this
   * call. If the callback throws, nothing is sent, and `sign` throws the same error.
   */
  readonly beforeSend?: (() => Promise<void>) | undefined;
  /** Called for each attempt, directly before the first byte is written. If the callback throws, nothing is sent. */
  readonly beforeWrite?: (() => void) | undefined;
  /**
   * Checks a signature with the certificate's key. A signature that verifies is not searched for credentials, because
   * it cannot contain any.
   */
  readonly verifies?: ((signature: Uint8Array) => boolean) | undefined;
  /** Decides whether to send a request again if no response arrived. The service may count both attempts. */
  readonly mayRepeat?: (() => boolean) | undefined;
  /**
   * Awaited before the wait that precedes each retry. It is called only if the attempt certainly made no signature, or
   * if `mayRepeat` allowed the retry. If the callback throws, the request is not retried, and `sign` throws the same
   * error.
   */
  readonly beforeRetry?: ((error: CodesignError) => Promise<void>) | undefined;
}

export interface SignatureRecord {
  /**
   * The service's record id (API 2.4), which report-sign needs. undefined if the service returned none. An id is
   * replaced by a digest with a note if it has more than 256 characters, is not printable, or may contain a credential.
   * The same client object can still send the report with the original id.
   */
  readonly id: string | undefined;
  readonly signature: Uint8Array;
}

/** Once `signal` is aborted, the client waits only for responses to signature requests that it has already sent. */
export interface SigningService {
  /** Announces the number of concurrent signature requests, so that their connections open during the first request. */
  expect(requests: number): void;
  /**
   * Requests one signature. Retries a request that certainly did not reach the service, or that the service rejected
   * with 429. A 503 is retried only if it contains the service's envelope or Retry-After. `mayRepeat` can allow further
   * retries.
   */
  sign(request: SignRequest, signal?: AbortSignal): Promise<SignatureRecord>;
  /** Reports the final outcome. A report may be retried, because reports are never counted. */
  report(id: string, status: ReportStatus, signal?: AbortSignal, file?: string): Promise<void>;
  close(): Promise<void>;
}
