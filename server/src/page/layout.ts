/** What is around every answer of the page: addresses, headers, head, navigation; and errors as a browser shows them. */

import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Html, html, render, time } from './html.ts';

export const PAGE_PATH = '/';
export const DOWNLOAD_PATH = '/records.csv';
export const STYLE_PATH = '/page.css';

/** All of them, and only these, take the credentials of viewers. */
export const PAGE_PATHS: readonly string[] = [PAGE_PATH, DOWNLOAD_PATH, STYLE_PATH];

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

/** A key, so that the tab is found among others; as an address of its own it would be one more request. */
const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='4' fill='%234051b5'/%3E%3Cg fill='none' stroke='white' stroke-width='2'%3E%3Ccircle cx='5.5' cy='8' r='2.5'/%3E%3Cpath d='M8 8h5v3'/%3E%3C/g%3E%3C/svg%3E";

const SECTIONS = [
  ['days', 'Per day'],
  ['certificates', 'Certificates'],
  ['clients', 'Quotas'],
  ['records', 'Signatures'],
] as const;

/** @param now when what is shown was so @param viewer who looks at it, for people */
export function overview(sections: readonly Html[], now: Date, viewer: string): string {
  return whole(
    'Codesign server',
    html`
<a class="skip" href="#main">Skip to the content</a>
<header>
  <h1><a href="${PAGE_PATH}">Codesign server</a></h1>
  <nav aria-label="Sections"><ul>${SECTIONS.map(([id, name]) => html`<li><a href="#${id}">${name}</a></li>`)}</ul></nav>
</header>
<main id="main" tabindex="-1">${sections}</main>
<footer><p>As of ${time(now)} UTC, seen by ${viewer}. This page only shows; the server's commands change.</p></footer>`,
  );
}

/**
 * A page with nothing but a text.
 * @param style the style sheet is for viewers: for others, the browser would ask for credentials to get it
 */
export function message(title: string, text: Html, style: Style = 'with style'): string {
  return whole(title, html`<main class="message"><h1>${title}</h1>${text}</main>`, style);
}

type Style = 'with style' | 'without style';

function whole(title: string, body: Html, style: Style = 'with style'): string {
  return render(html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title}</title>
<link rel="icon" href="${ICON}">
${style === 'with style' && html`<link rel="stylesheet" href="${STYLE_PATH}">`}
</head>
<body>${body}
</body>
</html>
`);
}

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
