import type { Secret } from '../secrets/secret.ts';
import type { ConnectReason } from './errors.ts';
import type { HttpProxy } from './proxy.ts';

export interface RequestBounds {
  /** Limits the whole attempt: connection, request and response. */
  readonly deadlineMilliseconds: number;
  readonly sizeLimit: number;
  /** Awaited before the request is passed to undici. If the callback throws, nothing is sent. */
  readonly beforeSend?: (() => Promise<void>) | undefined;
  /** Called directly before the first byte is written. If the callback throws, nothing is sent. */
  readonly beforeWrite?: (() => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** If true, `signal` has no effect after the request was written, because its response must be paid for anyway. */
  readonly isPaid?: boolean | undefined;
}

export interface ExchangeRequest extends RequestBounds {
  readonly method: 'GET' | 'POST';
  /** The user name and the password in the URL are not sent. */
  readonly url: URL;
  readonly headers: Readonly<Record<string, string | Secret>>;
  readonly body?: Uint8Array | undefined;
  /** Only for `http:` requests; the proxy receives them with their complete URL. */
  readonly proxy?: HttpProxy | undefined;
}

export interface AnswerHead {
  readonly status: number;
  /** Names are in lower case. Several values of a header are joined with commas. */
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
  /** The part of the body that arrived; without a response head, the data that the parser rejected. */
  readonly body?: Uint8Array | undefined;
  readonly detail: string;
}

export type Outcome = Answer | Failure;
