/** Sends a request at most once, within limits on time and size. Reliably reports whether anything was sent. */

import type { IncomingHttpHeaders } from 'node:http';
import { setImmediate as turnOfEventLoop } from 'node:timers/promises';
import type { Dispatcher } from 'undici';
import { Secret } from '../secrets/secret.ts';
import { ConnectFailure } from './errors.ts';
import type { HttpProxy } from './proxy.ts';
import type { AnswerHead, ExchangeRequest, Failure, FailureReason, Outcome } from './request.ts';

/**
 * Sends the request at most once, and does not follow redirects. Returns every outcome as a value, including network
 * failures.
 *
 * `mayHaveArrived` becomes true when undici starts to write the request to an open connection. It is therefore reliable
 * even after an unknown error.
 *
 * @param isStale called directly before undici writes to the connection. If `isStale` returns true, the connection may
 * have been closed, so nothing is sent and the result is undefined.
 */
export function exchange(
  dispatcher: Dispatcher,
  request: ExchangeRequest,
  isStale: () => boolean = () => false,
): Promise<Outcome | undefined> {
  const { signal } = request;
  return new Promise((resolve) => {
    /** Is set when undici starts to write the request. */
    let controller: Dispatcher.DispatchController | undefined;
    let head: AnswerHead | undefined;
    /** The time is used only in messages, because it does not prove that anything has arrived. */
    let sent = 0;
    const sinceSent = (): string => (process.uptime() - sent).toFixed(1);
    let length = 0;
    const chunks: Uint8Array[] = [];
    let settled = false;

    const settle = (outcome: Outcome | undefined | Promise<Outcome>): void => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      signal?.removeEventListener('abort', interrupt);
      resolve(outcome);
    };
    const body = (): Promise<Uint8Array> =>
      decode(Buffer.concat(chunks), head?.headers.get('content-encoding'), request.sizeLimit);
    const fail = (reason: FailureReason, detail: string, rejected = ''): void => {
      const failure = { kind: 'failure', reason, mayHaveArrived: controller !== undefined, head, detail } as const;
      if (head === undefined) settle({ ...failure, body: Buffer.from(rejected) });
      else settle(body().then((decoded) => ({ ...failure, body: decoded })));
    };
    const failBy = (error: Error): void => {
      if (error instanceof ConnectFailure) fail(error.reason, error.message);
      else if (controller === undefined) fail('unreachable', error.message);
      else fail('broken', `${error.message}, ${sinceSent()} s after the request was sent`, rejectedIn(error));
    };
    const giveUp = (reason: FailureReason, detail: string): void => {
      fail(reason, detail);
      controller?.abort(new Error(detail));
    };
    const interrupt = (): void => {
      if (controller === undefined || !request.isPaid) giveUp('interrupted', 'interrupted');
    };
    const timer = setTimeout(async () => {
      // If this process was suspended, the response may have arrived but not been read, because Node.js runs timers
      // first.
      await turnOfEventLoop();
      await turnOfEventLoop();
      const what = controller === undefined ? 'no connection' : 'no response';
      if (!settled) giveUp('timed-out', `${what} within ${request.deadlineMilliseconds / 1000} s`);
    }, request.deadlineMilliseconds);

    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(started) {
        // Either the request was aborted while it waited for a connection, or undici tried to send it a second time.
        if (settled || controller !== undefined) throw new Error('the request is not sent');
        if (isStale()) {
          settle(undefined);
          throw new Error('the connection may be dead');
        }
        try {
          request.beforeWrite?.();
        } catch (thrown) {
          settle(Promise.reject(thrown));
          throw thrown;
        }
        controller = started;
        sent = process.uptime();
      },
      onResponseStart(_controller, status, headers) {
        if (status >= 200) head = { status, headers: joinValues(headers) };
      },
      onResponseData(_controller, chunk) {
        length += chunk.length;
        if (length <= request.sizeLimit) chunks.push(chunk);
        else giveUp('too-large', `the response is larger than ${request.sizeLimit} bytes`);
      },
      onResponseEnd() {
        if (head === undefined) return fail('broken', 'the response has no status');
        if (head.status === 407 && request.proxy) return settle(unauthorized(request.proxy));
        const answer = head;
        settle(body().then((decoded) => ({ kind: 'answer', ...answer, body: decoded })));
      },
      onResponseError(_controller, error) {
        failBy(error);
      },
    };
    signal?.addEventListener('abort', interrupt);
    if (signal?.aborted) return interrupt();
    const { method, body: content = null } = request;
    dispatcher.dispatch({ ...addressOf(request), method, body: content }, handler);
  });
}

/**
 * Some proxies compress the response even though the request does not allow it (RFC 9110, section 8.4.1). Decodes the
 * bytes that have arrived, even if the last part is missing. Returns the bytes unchanged if they cannot be decoded
 * within the size limit.
 */
async function decode(body: Buffer, coding: string | undefined, limit: number): Promise<Uint8Array> {
  if (!/^(x-)?gzip$|^deflate$/i.test(coding ?? '')) return body;
  const { constants, inflateRawSync, unzipSync } = await import('node:zlib');
  const options = { maxOutputLength: limit, finishFlush: constants.Z_SYNC_FLUSH };
  // Accepts "deflate" data without the zlib format, and gzip and zlib data with a wrong checksum.
  const ways = [
    () => unzipSync(body, options),
    ...[0, 10, 2].map((at) => () => inflateRawSync(body.subarray(at), options)),
  ];
  for (const decompress of ways) {
    try {
      return decompress();
    } catch {
      // If data cannot be decoded, the caller reports it.
    }
  }
  return body;
}

function rejectedIn(error: Error): string {
  return 'data' in error && typeof error.data === 'string' ? error.data : '';
}

/** The request target (RFC 9112, section 3.2) is a path for a server, and an absolute URL for a proxy. */
function addressOf({ url, headers, proxy }: ExchangeRequest) {
  const path = url.pathname + url.search;
  const { origin, hostname } = proxy?.url ?? url;
  const authorization = proxy?.authorization && { 'proxy-authorization': proxy.authorization };
  return {
    origin,
    path: proxy === undefined ? path : url.origin + path,
    headers: { host: url.host, ...reveal({ ...headers, ...authorization }) },
    // Without `servername`, undici opens a new connection for each `host`.
    servername: hostname,
  };
}

function unauthorized({ url }: HttpProxy): Failure {
  const detail = `${url.origin} responded with HTTP 407`;
  return { kind: 'failure', reason: 'proxy-unauthorized', mayHaveArrived: false, head: undefined, detail };
}

function reveal(headers: ExchangeRequest['headers']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, value instanceof Secret ? value.reveal() : value]),
  );
}

function joinValues(headers: IncomingHttpHeaders): AnswerHead['headers'] {
  return new Map(Object.entries(headers).map(([name, value = '']) => [name, [value].flat().join(', ').trim()]));
}
