/** Every error of HTTP itself as an envelope: malformed requests, wrong content types, bodies too large, faults. */

import type { Socket } from 'node:net';
import type { FastifyBaseLogger, FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { REPORT_PATH, SIGN_PATH } from '../../src/service/messages.ts';
import { failure, refuse } from './envelope.ts';
import { PAGE_PATHS } from './page/paths.ts';
import { QUERY_TYPE, TSA_PATH } from './tsa/route.ts';

/** For people. Texts of parsers are not passed on: they quote what the client sent. */
const MESSAGES: Readonly<Record<number, string>> = {
  400: 'invalid request: the body is not the JSON it is said to be',
  408: 'the request took too long',
  413: 'the request is too large',
  415: 'the content type is not application/json',
  431: 'the request headers are too large',
};

/** The operations, as the log names them. */
type Operation = 'sign' | 'report-sign' | 'timestamp' | 'page';
const OPERATIONS: Readonly<Record<string, Operation>> = {
  [SIGN_PATH]: 'sign',
  [REPORT_PATH]: 'report-sign',
  [TSA_PATH]: 'timestamp',
  ...Object.fromEntries(PAGE_PATHS.map((path) => [path, 'page'] as const)),
};

/** The operation a request is for. */
export function operationOf(request: FastifyRequest): Operation | undefined {
  return OPERATIONS[request.routeOptions.url ?? ''];
}

/** What a route or the framework threw while a request was served. */
export function handleError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const status = error.statusCode ?? 500;
  const operation = operationOf(request);
  if (status < 500) {
    request.log.info({ operation, outcome: 'refused', reason: 'http', status });
    if (status === 415 && operation === 'timestamp')
      return refuse(reply, status, `the content type is not ${QUERY_TYPE}`);
    return refuse(reply, status, MESSAGES[status] ?? 'invalid request');
  }
  request.log.error({ operation, outcome: 'failed', err: error });
  return refuse(reply, 500, 'internal error');
}

/** A URL that the router cannot read. */
export function frameworkErrors(_error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  request.log.info({ outcome: 'refused', reason: 'http', status: 400 });
  refuse(reply, 400, 'invalid request: the address cannot be read');
}

/** How long a client may take to read its answer and to hang up, in milliseconds. */
const LINGER = 1000;

/**
 * What is not HTTP at all, or comes too slowly: answered on the bare socket, which goes soon afterwards. Not at once:
 * where bytes of the client are still unread, that would reset the connection and take the answer with it.
 */
export function answerClientError(error: Error & { readonly code?: string }, socket: Socket, log: FastifyBaseLogger) {
  setTimeout(() => socket.destroy(), LINGER).unref();
  if (!socket.writable) return;
  const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
  const text = { 400: 'Bad Request', 408: 'Request Timeout', 431: 'Request Header Fields Too Large' }[status];
  const body = JSON.stringify(failure(status, status === 400 ? 'invalid request' : (MESSAGES[status] ?? '')));
  log.info({ outcome: 'refused', reason: 'http', status });
  socket.end(
    `HTTP/1.1 ${status} ${text}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
