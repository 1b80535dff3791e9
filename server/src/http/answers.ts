import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyBaseLogger, FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { type Envelope, REPORT_PATH, SIGN_PATH } from '../../../src/service/messages.ts';
import { ServerError } from '../errors.ts';
import { isOfDatabase } from '../records/database-errors.ts';
import { addressOf } from './log.ts';

export const PAGE_PATH = '/';
export const STYLE_PATH = '/page.css';
export const CHAIN_PATH = '/certificates/:number.pem';

export function success(data: Readonly<Record<string, string>> | null): Envelope {
  return { code: 0, message: 'success', data };
}

/** Rejects a request. The HTTP status is also the business code; docs/api.md explains why. */
export function refuse(reply: FastifyReply, status: number, message: string): FastifyReply {
  return reply.code(status).send(failure(status, message));
}

/** Rejects and logs a request that is no valid HTTP for this server. */
export function refuseHttp(request: FastifyRequest, reply: FastifyReply, status: number, message?: string) {
  request.log.info({ operation: operationOf(request), outcome: 'refused', reason: 'http', status });
  return refuse(reply, status, message ?? MESSAGES[status] ?? 'invalid request');
}

export function unauthorized(reply: FastifyReply): FastifyReply {
  return refuse(reply.header('www-authenticate', 'Basic realm="codesign"'), 401, 'unauthorized');
}

export function refuseForNow(reply: FastifyReply, seconds: number, message: string): FastifyReply {
  return refuse(reply.header('retry-after', String(seconds)), 503, message);
}

function failure(code: number, message: string): Envelope {
  return { code, message, data: null };
}

/** An error that the client must correct. The message is sent to the client, so it must not quote the request. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly statusCode = 400;
}

/** These messages replace the messages of parsers, which quote the client's input. */
const MESSAGES: Readonly<Record<number, string>> = {
  400: 'invalid request',
  405: 'method not allowed',
  408: 'the request took too long',
  413: 'the request is too large',
  415: 'the content type is not application/json',
  417: 'the Expect header has an unsupported value',
  431: 'the request headers are too large',
  505: 'this server speaks HTTP/1.1',
};

/** Seconds between retries. Five retries at this interval take longer than a database restart. */
const RETRY_AFTER_FAILURE = 5;

type Operation = 'sign' | 'report-sign' | 'page' | 'certificate';
const OPERATIONS: Readonly<Record<string, Operation>> = {
  [SIGN_PATH]: 'sign',
  [REPORT_PATH]: 'report-sign',
  [PAGE_PATH]: 'page',
  [STYLE_PATH]: 'page',
  [CHAIN_PATH]: 'certificate',
};

export function operationOf(request: FastifyRequest): Operation | undefined {
  return OPERATIONS[request.routeOptions.url ?? ''];
}

export function handleError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const status = error.statusCode ?? 500;
  if (status < 500)
    return refuseHttp(request, reply, status, error instanceof RequestError ? error.message : undefined);
  // `OutcomeUnknown` wraps the database error if the signature may have been counted, so the status is then 500.
  const isAway = error instanceof ServerError || isOfDatabase(error);
  request.log.error({ operation: operationOf(request), outcome: 'failed', err: error, status: isAway ? 503 : 500 });
  return isAway
    ? refuseForNow(reply, RETRY_AFTER_FAILURE, 'the database or the HSM failed; no signature was counted')
    : refuse(reply, 500, 'internal error');
}

export function frameworkErrors(_error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  refuseHttp(request, reply, 400, 'invalid request: the URL cannot be parsed');
}

/** Checks the Expect header and the Host header (RFC 9112, section 3.2). Node would send no response body. */
export async function checkHead(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
  const { httpVersion, rawHeaders, headers } = request.raw;
  if (!httpVersion.startsWith('1.')) return refuseHead(request, reply, 505);
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host').length;
  if (hosts > 1 || (hosts === 0 && httpVersion === '1.1')) {
    return refuseHead(request, reply, 400, 'invalid request: exactly one Host header is required');
  }
  return (headers.expect ?? CONTINUE).toLowerCase() === CONTINUE ? undefined : refuseHead(request, reply, 417);
}

const CONTINUE = '100-continue';

function refuseHead(request: FastifyRequest, reply: FastifyReply, status: number, message?: string) {
  return refuseHttp(request, reply.header('connection', 'close'), status, message);
}

/** Milliseconds in which the client can read its response and disconnect. */
const LINGER = 1000;

const STATUS_OF: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_INVALID_VERSION: 505,
  HPE_PAUSED_H2_UPGRADE: 505,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** Answers input that is not HTTP, and requests that arrive too slowly. */
export function answerClientError(error: Error & { readonly code?: string }, socket: Socket, log: FastifyBaseLogger) {
  answerOnSocket(socket, STATUS_OF[error.code ?? ''] ?? 400, log);
}

/** Closes the socket after a delay: closing it with unread input would reset the connection and lose the response. */
export function answerOnSocket(socket: Socket, status: number, log: FastifyBaseLogger): void {
  setTimeout(() => socket.destroy(), LINGER).unref();
  if (!socket.writable) return;
  const body = JSON.stringify(failure(status, MESSAGES[status] ?? ''));
  log.info({ outcome: 'refused', reason: 'http', status, ...addressOf(socket), accessKey: 'unknown' });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`, 'Connection: close'],
  ];
  socket.end([...head, '', body].join('\r\n'));
}
