/** Types of a request and its outcome. */

import type { Secret } from '../secrets/secret.ts';
import type { ConnectReason } from './errors.ts';
import type { HttpProxy } from './proxy.ts';

export interface RequestBounds {
  /** Limit for the whole attempt: connection, request, headers and body of the answer. */
  readonly deadlineMilliseconds: number;
  /** Limit of the answer's body in bytes. */
  readonly sizeLimit: number;
  /**
   * Awaited before the request is passed to undici and before its time starts. If it throws, nothing is sent, and the
   * exchange rejects with that error.
   */
  readonly beforeSend?: (() => Promise<void>) | undefined;
  /**
   * Called directly before the first byte is written to an open connection. If it throws, the effect is the same as for
   * `beforeSend`.
   */
  readonly beforeWrite?: (() => void) | undefined;
  /** When it aborts, the request fails with the reason `interrupted`. */
  readonly signal?: AbortSignal | undefined;
  /** Set if `signal` has no effect after the request was written, because its answer is paid for. */
  readonly isPaid?: boolean | undefined;
}

export interface ExchangeRequest extends RequestBounds {
  readonly method: 'GET' | 'POST';
  /** User information in it is never sent. */
  readonly url: URL;
  /** A Secret is revealed only when the request is passed to undici. */
  readonly headers: Readonly<Record<string, string | Secret>>;
  readonly body?: Uint8Array | undefined;
  /** Receives the request instead of the target, with the complete address; for `http:` only. */
  readonly proxy?: HttpProxy | undefined;
}

export interface AnswerHead {
  readonly status: number;
  /** Lower-case names. Values with the same name are joined with a comma. */
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
  /** The head of the answer, if it arrived. */
  readonly head: AnswerHead | undefined;
  /** The part of the body that arrived before the failure. Without a head, the data that the parser rejected. */
  readonly body?: Uint8Array | undefined;
  /** Error text of the system or of TLS, for messages. */
  readonly detail: string;
}

export type Outcome = Answer | Failure;
