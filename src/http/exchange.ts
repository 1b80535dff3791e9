import type { IncomingHttpHeaders } from 'node:http';
import { setImmediate as turnOfEventLoop } from 'node:timers/promises';
import type { Dispatcher } from 'undici';
import { Secret } from '../secrets/secret.ts';
import { ConnectFailure } from './errors.ts';
import type { HttpProxy } from './proxy.ts';
import type { AnswerHead, ExchangeRequest, Failure, FailureReason, Outcome } from './request.ts';

/**
 * Sends the request at most once, follows no redirects, and returns failures as values. `mayHaveArrived` is reliable even
 * after an unknown error, because it becomes true when undici starts to write to an open connection.
 *
 * @param isStale called directly before undici writes. If `isStale` returns true, nothing is sent, and the result is
 * undefined.
 */
export function exchange(
  dispatcher: Dispatcher,
  request: ExchangeRequest,
  isStale: () => boolean = () => false,
): Promise<Outcome | undefined> {
  const { signal } = request;
  return new Promise((resolve) => {
    /** Assigned when undici starts to write the request. */
    let controller: Dispatcher.DispatchController | undefined;
    let head: AnswerHead | undefined;
    /** This time is only shown in messages. */
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
      // After a suspension of this process, Node.js runs timers before it reads a response that has arrived.
      await turnOfEventLoop();
      await turnOfEventLoop();
      const what = controller === undefined ? 'no connection' : 'no response';
      if (!settled) giveUp('timed-out', `${what} within ${request.deadlineMilliseconds / 1000} s`);
    }, request.deadlineMilliseconds);

    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(started) {
        // The request was aborted while it waited for a connection, or undici tries to send it a second time.
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
 * Some proxies compress responses although the request does not allow it (RFC 9110, section 8.4.1). Also decodes an
 * incomplete body. Returns the bytes unchanged if they cannot be decoded within the size limit.
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
      // The caller reports a body that cannot be decoded.
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
