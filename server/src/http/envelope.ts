/** Answers as the API shapes them (API 2.1): HTTP status, and an envelope of code, message and data. */

import type { FastifyReply } from 'fastify';
import type { Envelope } from '../../../src/service/messages.ts';
import { isForBrowser, sendErrorPage } from '../page/error-page.ts';

/** The envelope of a success. Its text is for people: no client may branch on it (API 2.1). */
export function success(data: Readonly<Record<string, string>> | null): Envelope {
  return { code: 0, message: 'success', data };
}

/** The envelope of a refusal. */
export function failure(code: number, message: string): Envelope {
  return { code, message, data: null };
}

/** Refuses, a browser with a page: the HTTP status and the business code are the same number (see the server's README for why). */
export function refuse(reply: FastifyReply, status: number, message: string): FastifyReply {
  if (isForBrowser(reply.request)) return sendErrorPage(reply, status, message);
  return reply.code(status).send(failure(status, message));
}
