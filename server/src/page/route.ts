import { readFileSync } from 'node:fs';
import type { Server } from 'node:https';
import { createRequire } from 'node:module';
import type { FastifyInstance } from 'fastify';
import { PAGE_PATH, refuse, STYLE_PATH } from '../http/answers.ts';
import { requireLogin } from '../http/auth.ts';
import type { Metrics } from '../http/metrics.ts';
import type { Store } from '../records/store.ts';
import { type Html, html, render, time } from './html.ts';
import { callsSection, certificatesSection, clientsSection } from './tables.ts';

const HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; style-src 'self'; img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
  'cross-origin-embedder-policy': 'require-corp',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/** Icon of a key for the browser tab. A data URL needs no additional request. */
const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='4' fill='%234051b5'/%3E%3Cg fill='none' stroke='white' stroke-width='2'%3E%3Ccircle cx='5.5' cy='8' r='2.5'/%3E%3Cpath d='M8 8h5v3'/%3E%3C/g%3E%3C/svg%3E";

const CALLS_SHOWN = 50;

/** The style sheet is designed for articles with a width of 45rem. */
const WIDER = 'body{grid-template-columns:1fr min(75rem,95%) 1fr}';

export function servePage(
  app: FastifyInstance<Server>,
  store: Store,
  now: () => Date,
  countFailure: Metrics['countFailedLogin'],
): void {
  const simple = readFileSync(createRequire(import.meta.url).resolve('simpledotcss/simple.min.css'), 'utf8');
  const style = `${simple}\n${WIDER}\n`;
  const { onRequest, holderOf } = requireLogin({
    holders: store.viewers,
    kind: 'viewer',
    now,
    countFailure,
    reject(reply) {
      reply.header('www-authenticate', 'Basic realm="codesign page", charset="UTF-8"');
      return refuse(
        reply,
        401,
        'this page requires the credentials of a viewer. To create a viewer, run: codesign-remote-server viewer add',
      );
    },
  });
  app.register((scope, _options, done) => {
    scope.addHook('onRequest', async (request, reply) => {
      reply.headers(HEADERS);
      return await onRequest(request, reply);
    });
    scope.get(PAGE_PATH, async (request, reply) => {
      const at = now();
      const [clients, certificates, records] = await Promise.all([
        store.clients.list(),
        store.certificates.list(),
        store.records.search({}, 'newest first', CALLS_SHOWN),
      ]);
      const { name, accessKey } = holderOf(request);
      const sections = [
        clientsSection(clients, at),
        callsSection(records, clients),
        certificatesSection(certificates, at),
      ];
      request.log.info({ operation: 'page', outcome: 'shown' });
      return reply.type('text/html; charset=utf-8').send(pageOf(sections, at, name ?? accessKey));
    });
    scope.get(STYLE_PATH, (_request, reply) => reply.type('text/css; charset=utf-8').send(style));
    done();
  });
}

function pageOf(sections: readonly Html[], now: Date, viewer: string): string {
  return render(html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Codesign server</title>
<link rel="icon" href="${ICON}">
<link rel="stylesheet" href="${STYLE_PATH}">
</head>
<body>
<header>
<h1>Codesign server</h1>
<p>As of ${time(now)} UTC, seen by ${viewer}</p>
</header>
<main>${sections}</main>
<footer><p>This page is read-only. To change, search or export, use the server's commands.</p></footer>
</body>
</html>
`);
}
