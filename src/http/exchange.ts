/** One request, once: bounded in time and size, and certain about whether anything was sent. */

import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import type net from 'node:net';
import { setImmediate as turnOfEventLoop } from 'node:timers/promises';
import { Secret } from '../secrets/secret.ts';
import { type Target, targetOf } from './connect.ts';
import { ConnectFailure, type ConnectReason } from './connect-failure.ts';
import type { Connections } from './connections.ts';
import type { HttpProxy } from './proxy.ts';

export interface RequestBounds {
  /** For the whole attempt: connection, request, headers and body of the answer. */
  readonly deadlineMilliseconds: number;
  /** Bytes of the answer's body. */
  readonly sizeLimit: number;
  /**
   * Awaited when a connection is open, directly before the request is written. If it throws, nothing is sent, and the
   * exchange rejects with what it threw.
   */
  readonly beforeSend?: (() => Promise<void>) | undefined;
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
  /** The part of the body that had arrived by then. */
  readonly body?: Uint8Array | undefined;
  /** For people: what the system or TLS said. */
  readonly detail: string;
}

export type Outcome = Answer | Failure;

/**
 * Sends the request at most once and never follows a redirect. Gives every outcome as a value, network failures too;
 * rejects only with what `beforeSend` throws.
 *
 * What tells "never left" from "may have arrived" is whether it was handed to a connection: to one that is open, and not
 * before. So no list of error codes has to be complete.
 */
export function exchange(connections: Connections<Target>, request: ExchangeRequest): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    let sent: ClientRequest | undefined;
    let head: AnswerHead | undefined;
    let length = 0;
    const chunks: Uint8Array[] = [];
    let settled = false;

    const settle = (outcome: Outcome): void => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      resolve(outcome);
    };
    const fail = (reason: FailureReason, detail: string): void => {
      const body = reason === 'too-large' ? undefined : Buffer.concat(chunks);
      settle({ kind: 'failure', reason, mayHaveArrived: sent !== undefined, head, body, detail });
    };
    const giveUp = (reason: FailureReason, detail: string): void => {
      fail(reason, detail);
      sent?.destroy();
    };
    const broken = ({ message }: Error): void => fail('broken', message);
    const timer = setTimeout(async () => {
      // After a standstill of this process the answer may be there, unread: Node looks at timers first.
      await turnOfEventLoop();
      await turnOfEventLoop();
      if (!settled) giveUp('timed-out', `no answer within ${request.deadlineMilliseconds / 1000} s`);
    }, request.deadlineMilliseconds);

    const take = (response: IncomingMessage, sending: ClientRequest): void => {
      head = { status: response.statusCode ?? 0, headers: headersOf(response.rawHeaders) };
      const { status } = head;
      response.on('data', (chunk: Buffer) => {
        length += chunk.length;
        if (length > request.sizeLimit) giveUp('too-large', `the answer is larger than ${request.sizeLimit} bytes`);
        else chunks.push(chunk);
      });
      response.on('end', () => {
        if (status === 407 && request.proxy) settle(unauthorized(request.proxy));
        else if (head !== undefined) settle({ kind: 'answer', ...head, body: Buffer.concat(chunks) });
        // Of a request that was answered unread, the rest is not waited for.
        if (!sending.writableFinished) sending.destroy();
      });
      response.on('error', broken);
    };

    const send = (socket: net.Socket, origin: string): void => {
      const { method, body } = request;
      const sending = http.request({ ...STRICT, ...partsOf(request), method, createConnection: () => socket });
      sent = sending;
      sending.on('response', (response) => take(response, sending)).on('error', broken);
      sending.once('close', () => {
        fail('broken', 'the connection was closed');
        connections.give(origin, socket, keptFor(head));
      });
      // All at once: some releases of Node take a request that is written in steps for finished twice.
      sending.end(body);
    };

    const { url, proxy } = request;
    const place = proxy?.url ?? url;
    connections
      .take(place.origin, targetOf(place), () => !settled)
      .then(async (socket) => {
        if (socket === undefined) return;
        if (settled) return connections.give(place.origin, socket);
        const refusal = await refusalBefore(request, socket);
        if (refusal !== undefined) {
          connections.give(place.origin, socket);
          clearTimeout(timer);
          settled = true;
          return reject(refusal.thrown);
        }
        if (settled) return connections.give(place.origin, socket);
        try {
          if (socket.destroyed || socket.readableLength > 0) throw new Error('the connection ended, or spoke unasked');
          send(socket, place.origin);
        } catch (thrown) {
          socket.destroy();
          connections.give(place.origin, socket);
          throw thrown;
        }
      })
      .catch((failure: unknown) => {
        if (failure instanceof ConnectFailure) return fail(failure.reason, failure.message);
        fail(
          sent === undefined ? 'unreachable' : 'broken',
          failure instanceof Error ? failure.message : String(failure),
        );
      });
  });
}

/** What `beforeSend` throws. The connection is watched meanwhile: what comes now answers no request. */
async function refusalBefore(
  { beforeSend }: ExchangeRequest,
  socket: net.Socket,
): Promise<{ readonly thrown: unknown } | undefined> {
  if (beforeSend === undefined) return undefined;
  const drop = (): void => void socket.destroy();
  socket.on('data', drop).on('end', drop);
  try {
    await beforeSend();
    return undefined;
  } catch (thrown) {
    return { thrown };
  } finally {
    socket.off('data', drop).off('end', drop);
  }
}

/** Taken off what a service says, which may have begun to count when it sent its answer. */
const KEPT_MARGIN_MILLISECONDS = 2000;

/** For how long the other side keeps the connection, where it says so (Keep-Alive: timeout=5, in seconds; RFC 2068, section 19.7.1.1). */
function keptFor(head: AnswerHead | undefined): number | undefined {
  const seconds = /\btimeout\s*=\s*(\d+)/i.exec(head?.headers.get('keep-alive') ?? '')?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1000 - KEPT_MARGIN_MILLISECONDS;
}

/** Said aloud, because options of Node.js and its environment can make them otherwise. */
const STRICT = { insecureHTTPParser: false, maxHeaderSize: 16 * 1024 } as const;

/** RFC 9112, section 3.2: a path for the target itself, an absolute address for a proxy. */
function partsOf({ url, headers, body, proxy }: ExchangeRequest) {
  const path = url.pathname + url.search;
  const authorization = proxy?.authorization && { 'proxy-authorization': proxy.authorization };
  const length = body && { 'content-length': String(body.length) };
  return {
    path: proxy === undefined ? path : url.origin + path,
    headers: { host: url.host, connection: 'keep-alive', ...reveal({ ...headers, ...authorization }), ...length },
  };
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

/** @param raw names and values in turn, as they came */
function headersOf(raw: readonly string[]): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  for (let index = 0; index < raw.length; index += 2) {
    const [name = '', value = ''] = [raw[index]?.toLowerCase(), raw[index + 1]];
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return headers;
}
