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
  /** File name for records of this client; never sent. */
  readonly file?: string | undefined;
  /**
   * The service awaits this callback for each attempt before the request is passed on. A connection may have to be
   * opened after the callback. If the callback throws, nothing is sent, and `sign` throws the same error.
   */
  readonly beforeSend?: (() => Promise<void>) | undefined;
  /** Called for each attempt directly before its first byte is written. If the callback throws, nothing is sent. */
  readonly beforeWrite?: (() => void) | undefined;
  /**
   * Checks a signature with the certificate. One that verifies is not searched for credentials, because it cannot hold
   * one.
   */
  readonly verifies?: ((signature: Uint8Array) => boolean) | undefined;
  /** Decides whether to retry a request without an answer, although both attempts may be counted. */
  readonly mayRepeat?: (() => boolean) | undefined;
  /**
   * Awaited before the wait for each retry. The attempt certainly made no signature, or `mayRepeat` allowed the retry.
   * If the callback throws, there is no retry, and `sign` throws the same error.
   */
  readonly beforeRetry?: ((error: CodesignError) => Promise<void>) | undefined;
}

export interface SignatureRecord {
  /**
   * The service's record id (API 2.4), for report-sign; undefined if the service returned none. A digest with a note
   * replaces an id that has more than 256 characters, is not printable, or may contain a credential. The same client
   * object can still report it with the original id.
   */
  readonly id: string | undefined;
  readonly signature: Uint8Array;
}

/** After `signal` aborts, only the answer to a signature request that was already written is awaited. */
export interface SigningService {
  /** Announces this number of concurrent signature requests, so that their connections open during the first one. */
  expect(requests: number): void;
  /**
   * Requests one signature. Retries a request only if it certainly did not reach the service, if it was rejected with
   * 429 or with a 503 that contains the service's envelope or Retry-After, or if `mayRepeat` allows it.
   */
  sign(request: SignRequest, signal?: AbortSignal): Promise<SignatureRecord>;
  /** Reports the final outcome. May be retried, because a report is never counted. */
  report(id: string, status: ReportStatus, signal?: AbortSignal, file?: string): Promise<void>;
  close(): Promise<void>;
}
