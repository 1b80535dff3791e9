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
   * This callback is awaited for each attempt, before the request is passed on. After the callback, a connection may
   * still have to be opened. If the callback throws, nothing is sent, and `sign` throws the same error.
   */
  readonly beforeSend?: (() => Promise<void>) | undefined;
  /** Called for each attempt, directly before the first byte is written. If the callback throws, nothing is sent. */
  readonly beforeWrite?: (() => void) | undefined;
  /**
   * Checks a signature with the key of the certificate. If the signature verifies, it is not searched for credentials,
   * because it cannot contain any.
   */
  readonly verifies?: ((signature: Uint8Array) => boolean) | undefined;
  /** Decides whether to send a request again if no answer arrived, although both attempts may be counted. */
  readonly mayRepeat?: (() => boolean) | undefined;
  /**
   * This callback is awaited before the wait that precedes each retry. It is called only if the attempt certainly made
   * no signature, or if `mayRepeat` allowed the retry. If the callback throws, the request is not retried, and `sign`
   * throws the same error.
   */
  readonly beforeRetry?: ((error: CodesignError) => Promise<void>) | undefined;
}

export interface SignatureRecord {
  /**
   * The record id of the service (API 2.4), needed for report-sign; undefined if the service returned none. If an id
   * has more than 256 characters, is not printable, or may contain a credential, it is replaced by a digest with a
   * note. The same client object can still send the report with the original id.
   */
  readonly id: string | undefined;
  readonly signature: Uint8Array;
}

/** After `signal` is aborted, the client waits only for answers to signature requests that it has already sent. */
export interface SigningService {
  /**
   * Announces how many signature requests will run concurrently, so that their connections open during the first
   * request.
   */
  expect(requests: number): void;
  /**
   * Requests one signature. Retries a request only if it certainly did not reach the service, or was rejected with 429,
   * or with a 503 that contains the service's envelope or Retry-After. `mayRepeat` can allow further retries.
   */
  sign(request: SignRequest, signal?: AbortSignal): Promise<SignatureRecord>;
  /** Reports the final outcome. The report may be retried, because reports are never counted. */
  report(id: string, status: ReportStatus, signal?: AbortSignal, file?: string): Promise<void>;
  close(): Promise<void>;
}
