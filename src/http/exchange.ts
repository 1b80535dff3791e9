/** One request through an undici dispatcher, once: bounded in time and size, and certain about whether anything was sent. */

import { setImmediate as turnOfEventLoop } from 'node:timers/promises';
import type { Dispatcher } from 'undici';
import { Secret } from '../secrets/secret.ts';
import { ConnectFailure, type ConnectReason } from './connect-failure.ts';
import type { HttpProxy } from './proxy.ts';

export interface RequestBounds {
  /** For the whole attempt: connection, request, headers and body of the answer. */
  readonly deadlineMilliseconds: number;
  /** Bytes of the answer's body. */
  readonly sizeLimit: number;
}

export interface ExchangeRequest extends RequestBounds {
  readonly method: 'GET' | 'POST';
  /** Its user information is never sent. */
  readonly url: URL;
  /** A Secret is revealed only as the request is handed over. */
  readonly headers: Readonly<Record<string, string | Secret>>;
  readonly body?: Uint8Array | undefined;
  /** Asked in the target's place, with the whole address: for `http:`. */
  readonly proxy?: HttpProxy | undefined;
}

export interface AnswerHead {
  readonly status: number;
  /** Lower-case names; repeated ones joined with a comma. */
  readonly headers: ReadonlyMap<string, string>;
}

export interface Answer extends AnswerHead {
  readonly kind: 'answer';
  readonly body: Uint8Array;
}

export type FailureReason = ConnectReason | 'timed-out' | 'broken' | 'too-large';

export interface Failure {
  readonly kind: 'failure';
  readonly reason: FailureReason;
  /** False only where it is certain that no byte of the request was sent. */
  readonly mayHaveArrived: boolean;
  /** The head of the answer, where that much came. */
  readonly head: AnswerHead | undefined;
  /** For people: what the system or TLS said. */
  readonly detail: string;
}

export type Outcome = Answer | Failure;

/**
 * Sends the request at most once and never follows a redirect. Gives every outcome as a value, network failures too.
 *
 * What tells "never left" from "may have arrived" is undici's `onRequestStart`, called when a connection is there and
 * before the first byte is written to it; aborting there writes nothing. So no list of error codes has to be complete.
 */
export function exchange(dispatcher: Dispatcher, request: ExchangeRequest): Promise<Outcome> {
  return new Promise((resolve) => {
    let controller: Dispatcher.DispatchController | undefined;
    let head: AnswerHead | undefined;
    let settled = false;
    let length = 0;
    const chunks: Uint8Array[] = [];

    const settle = (outcome: Outcome): void => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      resolve(outcome);
    };
    const fail = (reason: FailureReason, detail: string): void => {
      settle({ kind: 'failure', reason, mayHaveArrived: controller !== undefined, head, detail });
    };
    const giveUp = (reason: FailureReason, detail: string): void => {
      fail(reason, detail);
      controller?.abort(new Error(detail));
    };
    const timer = setTimeout(async () => {
      // After a standstill of this process the answer may be there, unread: Node looks at timers first.
      await turnOfEventLoop();
      await turnOfEventLoop();
      if (!settled) giveUp('timed-out', `no answer within ${request.deadlineMilliseconds / 1000} s`);
    }, request.deadlineMilliseconds);

    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(started) {
        // Given up while it waited for a connection, or about to be written a second time: nothing may be sent.
        if (settled || controller !== undefined) return started.abort(new Error('not sent'));
        controller = started;
      },
      onResponseStart(_controller, status, headers) {
        if (status >= 200) head = { status, headers: flatten(headers) };
      },
      onResponseData(_controller, chunk) {
        length += chunk.length;
        if (length > request.sizeLimit) {
          return giveUp('too-large', `the answer is larger than ${request.sizeLimit} bytes`);
        }
        chunks.push(chunk);
      },
      onResponseEnd() {
        if (head === undefined) return fail('broken', 'the answer has no status');
        if (head.status === 407 && request.proxy) return settle(unauthorized(request.proxy));
        settle({ kind: 'answer', ...head, body: Buffer.concat(chunks) });
      },
      onResponseError(_controller, error) {
        if (error instanceof ConnectFailure) return fail(error.reason, error.message);
        fail(controller === undefined ? 'unreachable' : 'broken', error.message);
      },
    };

    const { method, body = null } = request;
    try {
      dispatcher.dispatch({ ...placeOf(request), method, body }, handler);
    } catch (error) {
      fail(controller === undefined ? 'unreachable' : 'broken', error instanceof Error ? error.message : String(error));
    }
  });
}

/** RFC 9112, section 3.2: a path for the target itself, an absolute address for a proxy. */
function placeOf({ url, headers, proxy }: ExchangeRequest) {
  const path = url.pathname + url.search;
  if (proxy === undefined) return { origin: url.origin, path, headers: reveal(headers) };
  const { authorization } = proxy;
  const forProxy = { host: url.host, ...(authorization && { 'proxy-authorization': authorization }) };
  return { origin: proxy.url.origin, path: url.origin + path, headers: reveal({ ...headers, ...forProxy }) };
}

/** The target has not heard of the request. */
function unauthorized({ url }: HttpProxy): Failure {
  const detail = `${url.origin} answered with HTTP 407`;
  return { kind: 'failure', reason: 'proxy-unauthorized', mayHaveArrived: false, head: undefined, detail };
}

function reveal(headers: ExchangeRequest['headers']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, value instanceof Secret ? value.reveal() : value]),
  );
}

function flatten(headers: Readonly<Record<string, string | string[] | undefined>>): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(headers).map(([name, value]) => [
      name.toLowerCase(),
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ]),
  );
}
