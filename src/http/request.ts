import type { Secret } from '../secrets/secret.ts';
import type { ConnectReason } from './errors.ts';
import type { HttpProxy } from './proxy.ts';

export interface RequestBounds {
  /** Time limit for the whole attempt: the connection, the request, and the headers and body of the response. */
  readonly deadlineMilliseconds: number;
  readonly sizeLimit: number;
  /** The callback is awaited before the request is passed to undici. If the callback throws, nothing is sent. */
  readonly beforeSend?: (() => Promise<void>) | undefined;
  /** The callback is called directly before the first byte is written. If the callback throws, nothing is sent. */
  readonly beforeWrite?: (() => void) | undefined;
  /** When the signal is aborted, the request fails with the reason `interrupted`. */
  readonly signal?: AbortSignal | undefined;
  /**
   * If true, `signal` has no effect after the request has been written, because the response must be paid for anyway.
   */
  readonly isPaid?: boolean | undefined;
}

export interface ExchangeRequest extends RequestBounds {
  readonly method: 'GET' | 'POST';
  /** The user name and the password in the URL are never sent. */
  readonly url: URL;
  /** A Secret is revealed only at the moment when the request is passed to undici. */
  readonly headers: Readonly<Record<string, string | Secret>>;
  readonly body?: Uint8Array | undefined;
  /** The proxy for an `http:` request; the proxy receives the request with its complete URL. */
  readonly proxy?: HttpProxy | undefined;
}

export interface AnswerHead {
  readonly status: number;
  /** The header names are in lower case. If a header occurs several times, its values are joined with commas. */
  readonly headers: ReadonlyMap<string, string>;
}

export interface Answer extends AnswerHead {
  readonly kind: 'answer';
  readonly body: Uint8Array;
}

export type FailureReason = ConnectReason | 'timed-out' | 'broken' | 'too-large' | 'interrupted';

export interface Failure {
  readonly kind: 'failure';
  readonly reason: FailureReason;
  /** False only if it is certain that no byte of the request was sent. */
  readonly mayHaveArrived: boolean;
  readonly head: AnswerHead | undefined;
  /**
   * The part of the body that arrived before the failure. If there is no response head, this is the data that the
   * parser rejected.
   */
  readonly body?: Uint8Array | undefined;
  readonly detail: string;
}

export type Outcome = Answer | Failure;
