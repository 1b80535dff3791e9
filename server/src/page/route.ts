/** GET /: the operator's page, its style sheet, and what it shows as CSV. It reads, and it takes the credentials of viewers only. */

import { readFileSync } from 'node:fs';
import type { Server } from 'node:https';
import { addAbortSignal, Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { refuseForNow } from '../http/answers.ts';
import { type HoldBack, requireLogin } from '../http/auth.ts';
import { createFairQueue } from '../http/fair-queue.ts';
import type { Store } from '../records/store.ts';
import { chartSection, signedPerDay } from './chart.ts';
import { dayOf, html } from './html.ts';
import { DOWNLOAD_PATH, HTML_TYPE, message, overview, PAGE_HEADERS, PAGE_PATH, STYLE_PATH } from './layout.ts';
import { readQuery } from './query.ts';
import { csvOf, findPage, recordsSection } from './records.ts';
import { certificatesSection, clientsSection } from './tables.ts';

export interface PageDependencies {
  readonly store: Pick<Store, 'viewers' | 'clients' | 'certificates' | 'records'>;
  readonly now: () => Date;
  readonly holdBack: HoldBack;
  /** The server ends: downloads do not hold it up. */
  readonly ending: AbortSignal;
}

/** Limits of a page: records, and everything else. */
const RECORDS_SHOWN = 50;
const ROWS_SHOWN = 200;
/** How many records are looked at for a page: where hardly any fits, the next page goes on from there. */
const LOOKED_AT = 100_000;
/** Limits of concurrent and waiting pages, and of concurrent downloads, so that signing stays fast. */
const AT_ONCE = 2;
const WAITING = 16;
const DOWNLOADS = 4;

export function servePage(app: FastifyInstance<Server>, { store, now, holdBack, ending }: PageDependencies): void {
  const pages = createFairQueue({ atOnce: AT_ONCE, limit: WAITING });
  const downloads = createFairQueue({ atOnce: DOWNLOADS, limit: 0 });
  const operation = 'page';
  const { onRequest, holderOf } = requireLogin({
    holders: store.viewers,
    kind: 'viewer',
    now,
    holdBack,
    reject(reply) {
      reply.code(401).header('www-authenticate', 'Basic realm="codesign page", charset="UTF-8"').type(HTML_TYPE);
      return reply.send(message('Who is there?', STRANGERS));
    },
  });
  const busy = (request: FastifyRequest, reply: FastifyReply) => {
    request.log.warn({ operation, outcome: 'refused', reason: 'busy', status: 503 });
    return refuseForNow(reply, 5, 'too many concurrent page requests');
  };
  const read = async (request: FastifyRequest) => {
    const [clients, certificates] = await Promise.all([store.clients.list(), store.certificates.list()]);
    const known = { clients, certificates };
    return { known, query: readQuery(request.url, known) };
  };

  const show = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const at = now();
    const { known, query } = await read(request);
    const right = query.problems.length === 0;
    const bounds = { shown: RECORDS_SHOWN, lookedAt: LOOKED_AT };
    const found = right ? await findPage(store.records, query.filter, query.place, bounds) : undefined;
    const sections = [
      chartSection(await signedPerDay(store.records, query.days, at), query),
      certificatesSection(known.certificates, at, ROWS_SHOWN),
      clientsSection(known.clients, at, ROWS_SHOWN),
      recordsSection(found, query, known, LOOKED_AT),
    ];
    request.log.info({ operation, ...(right ? { outcome: 'shown' } : { outcome: 'refused', reason: 'filter' }) });
    const { name, accessKey } = holderOf(request);
    const text = overview(sections, at, name ?? accessKey);
    return reply
      .code(right ? 200 : 400)
      .type(HTML_TYPE)
      .send(text);
  };

  const download = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const at = now();
    const { known, query } = await read(request);
    if (query.problems.length > 0) {
      request.log.info({ operation, outcome: 'refused', reason: 'filter' });
      const problems = html`<ul>${query.problems.map((problem) => html`<li>${problem}</li>`)}</ul>`;
      return reply.code(400).type(HTML_TYPE).send(message('This filter cannot be used', problems));
    }
    const send = (body: string | Readable) =>
      reply
        .type('text/csv; charset=utf-8')
        .header('content-disposition', `attachment; filename="signatures-${dayOf(at)}.csv"`)
        .send(body);
    if (request.method === 'HEAD') return send('');
    const serve = async () => {
      const stream = addAbortSignal(ending, Readable.from(csvOf(store.records, query.filter, known.clients, at)));
      send(stream);
      await finished(stream).then(
        () => request.log.info({ operation, outcome: 'downloaded' }),
        (err: unknown) => request.log.warn({ operation, outcome: 'download-broken', err }),
      );
      return reply;
    };
    return await downloads.run(operation, serve, () => busy(request, reply));
  };

  app.register((scope, _options, done) => {
    const style = readFileSync(new URL('page.css', import.meta.url), 'utf8');
    scope.addHook('onRequest', async (request, reply) => {
      reply.headers(PAGE_HEADERS);
      return await onRequest(request, reply);
    });
    scope.get(PAGE_PATH, (request, reply) =>
      pages.run(
        operation,
        () => show(request, reply),
        () => busy(request, reply),
      ),
    );
    scope.get(DOWNLOAD_PATH, download);
    scope.get(STYLE_PATH, (_request, reply) => reply.type('text/css; charset=utf-8').send(style));
    done();
  });
}

const STRANGERS = html`<p>This page is for those whom <code>codesign-remote-server viewer add</code> has given an access key and its secret:
the user name and the password that the browser asks for. Credentials for signing do not open it.</p>`;
