/** A request and its outcome: types only. */

import type { Secret } from '../secrets/secret.ts';
import type { ConnectReason } from './errors.ts';
import type { HttpProxy } from './proxy.ts';

export interface RequestBounds {
  /** For the whole attempt: connection, request, headers and body of the answer. */
  readonly deadlineMilliseconds: number;
  /** Bytes of the answer's body. */
  readonly sizeLimit: number;
  /**
   * Awaited before the request is handed over, and before its time begins. If it throws, nothing is sent, and the exchange
   * rejects with what it threw.
   */
  readonly beforeSend?: (() => Promise<void>) | undefined;
  /** Called directly before the first byte is written to an open connection. If it throws, as `beforeSend`. */
  readonly beforeWrite?: (() => void) | undefined;
  /** When it aborts, the request is given up: a failure with the reason `interrupted`. */
  readonly signal?: AbortSignal | undefined;
  /** Whether `signal` changes nothing about a request that was written: its answer is paid for. */
  readonly isPaid?: boolean | undefined;
}

export interface ExchangeRequest extends RequestBounds {
  readonly method: 'GET' | 'POST';
  /** Its user information is never sent. */
  readonly url: URL;
  /** A Secret is revealed only as the request is handed over. */
  readonly headers: Readonly<Record<string, string | Secret>>;
  readonly body?: Uint8Array | undefined;
  /** Gets the request instead of the target, with the whole address: for `http:`. */
  readonly proxy?: HttpProxy | undefined;
}

export interface AnswerHead {
  readonly status: number;
  /** Lower-case names; values of the same name are joined with a comma. */
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
  /** False only where it is certain that no byte of the request was sent. */
  readonly mayHaveArrived: boolean;
  /** The head of the answer, where that much came. */
  readonly head: AnswerHead | undefined;
  /** The part of the body that had arrived by then. Without a head, what the parser rejected. */
  readonly body?: Uint8Array | undefined;
  /** For people: what the system or TLS said. */
  readonly detail: string;
}

export type Outcome = Answer | Failure;
