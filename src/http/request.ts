import type { Secret } from '../secrets/secret.ts';
import type { ConnectReason } from './errors.ts';
import type { HttpProxy } from './proxy.ts';

export interface RequestBounds {
  /** Time limit for the whole attempt: connection, request, headers and body of the answer. */
  readonly deadlineMilliseconds: number;
  readonly sizeLimit: number;
  /** Awaited before the request is passed to undici. If the callback throws, nothing is sent. */
  readonly beforeSend?: (() => Promise<void>) | undefined;
  /** Called directly before the first byte is written. If the callback throws, nothing is sent. */
  readonly beforeWrite?: (() => void) | undefined;
  /** When the signal aborts, the request fails with the reason `interrupted`. */
  readonly signal?: AbortSignal | undefined;
  /** If true, `signal` has no effect once the request is written, because the answer must be paid for. */
  readonly isPaid?: boolean | undefined;
}

export interface ExchangeRequest extends RequestBounds {
  readonly method: 'GET' | 'POST';
  /** User information in the URL is never sent. */
  readonly url: URL;
  /** A Secret is revealed only when the request is passed to undici. */
  readonly headers: Readonly<Record<string, string | Secret>>;
  readonly body?: Uint8Array | undefined;
  /** Proxy for an `http:` request, which it receives with the complete URL. */
  readonly proxy?: HttpProxy | undefined;
}

export interface AnswerHead {
  readonly status: number;
  /** Names are in lower case. Values with the same name are joined with a comma. */
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
  /** The part of the body that arrived before the failure. Without a head, the data that the parser rejected. */
  readonly body?: Uint8Array | undefined;
  readonly detail: string;
}

export type Outcome = Answer | Failure;
