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
  /** File name for the audit log. It is not sent. */
  readonly file?: string | undefined;
  /**
   * Awaited for each attempt, before a connection is opened. If this or a later callback throws, nothing more is sent,
   * and `sign` throws the same error.
   */
  readonly beforeSend?: (() => Promise<void>) | undefined;
  /** Called for each attempt, directly before the first byte is written. */
  readonly beforeWrite?: (() => void) | undefined;
  /** Signatures that do not verify are searched for credentials. */
  readonly verifies?: ((signature: Uint8Array) => boolean) | undefined;
  /** Allows a retry after an attempt without a response. The service may count both attempts. */
  readonly mayRepeat?: (() => boolean) | undefined;
  /** Awaited before the wait that precedes each retry. */
  readonly beforeRetry?: ((error: CodesignError) => Promise<void>) | undefined;
}

export interface SignatureRecord {
  /**
   * Record id for report-sign (API 2.4); undefined if the service returned none. A digest with a note replaces an id that
   * cannot be stored; the same client object then reports with the original id.
   */
  readonly id: string | undefined;
  readonly signature: Uint8Array;
}

/** After `signal` is aborted, the client waits only for responses to signature requests that it has sent. */
export interface SigningService {
  /** The first request also opens the connections for this number of concurrent requests. */
  expect(requests: number): void;
  /** Retries only if it is certain that the service made no signature, or if `mayRepeat` allows it. */
  sign(request: SignRequest, signal?: AbortSignal): Promise<SignatureRecord>;
  /** Reports the outcome. A report may be retried, because it is not counted. */
  report(id: string, status: ReportStatus, signal?: AbortSignal, file?: string): Promise<void>;
  close(): Promise<void>;
}
