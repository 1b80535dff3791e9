/** Errors as a browser shows them: an envelope would be JSON to a person. */

import type { FastifyReply, FastifyRequest } from 'fastify';
import { html } from './html.ts';
import { message } from './layout.ts';

/** No script, no frame around it, nothing from elsewhere, and nothing of it in any cache. */
export const PAGE_HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'cross-origin-embedder-policy': 'require-corp',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};
export const HTML_TYPE = 'text/html; charset=utf-8';

/** Whether a browser shows the answer to a person. The operations of the API answer everybody with an envelope (API 2.1). */
export function isForBrowser({ method, url, headers }: FastifyRequest): boolean {
  return ['GET', 'HEAD'].includes(method) && !url.startsWith('/v1/') && /\btext\/html\b/i.test(headers.accept ?? '');
}

/** @param text what happened, in lower case without a full stop */
export function sendErrorPage(reply: FastifyReply, status: number, text: string): FastifyReply {
  const sentence = `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
  const body = message(`Error ${status}`, html`<p>${sentence}</p>`, 'without style');
  return reply.code(status).headers(PAGE_HEADERS).type(HTML_TYPE).send(body);
}
