/** GET /: the operator's page, its style sheet, and what it shows as CSV. It reads, and it takes the credentials of viewers only. */

import { readFileSync } from 'node:fs';
import type { Server } from 'node:https';
import { addAbortSignal, Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { authenticate, nameOfHolder } from '../http/auth.ts';
import { refuse } from '../http/envelope.ts';
import type { HoldBack } from '../http/failed-logins.ts';
import type { Store, Viewer } from '../records/store.ts';
import { certificatesSection } from './certificates.ts';
import { chartSection } from './chart.ts';
import { clientsSection } from './clients.ts';
import { signedPerDay } from './days.ts';
import { csvOf, fileName } from './download.ts';
import { HTML_TYPE, PAGE_HEADERS } from './error-page.ts';
import { html } from './html.ts';
import { message, overview } from './layout.ts';
import { DOWNLOAD_PATH, PAGE_PATH, STYLE_PATH } from './paths.ts';
import { createPlaces } from './places.ts';
import { type Known, type Query, readQuery } from './query.ts';
import { recordsSection } from './records.ts';
import { findPage } from './search.ts';

export interface PageDependencies {
  readonly store: Pick<Store, 'viewers' | 'clients' | 'certificates' | 'records'>;
  readonly now: () => Date;
  readonly holdBack: HoldBack;
  /** The server ends: downloads do not hold it up. */
  readonly ending: AbortSignal;
}

/** How much a page shows at most, of records and of everything else. */
const RECORDS_SHOWN = 50;
const ROWS_SHOWN = 200;
/** How many records are looked at for a page: where hardly any fits, the next page goes on from there. */
const LOOKED_AT = 100_000;
/** How many pages may be made at once and wait for that, and how many downloads may run: signing has the rest of the machine. */
const AT_ONCE = 2;
const WAITING = 16;
const DOWNLOADS = 4;

export function servePage(app: FastifyInstance<Server>, { store, now, holdBack, ending }: PageDependencies): void {
  const viewers = new WeakMap<FastifyRequest, Viewer>();
  const pages = createPlaces(AT_ONCE, WAITING);
  const downloads = createPlaces(DOWNLOADS, 0);
  const operation = 'page';
  const busy = (request: FastifyRequest, reply: FastifyReply) => {
    request.log.warn({ operation, outcome: 'refused', reason: 'busy', status: 503 });
    return refuse(reply.header('retry-after', '5'), 503, 'too many pages are asked for at once');
  };
  const read = async (request: FastifyRequest): Promise<{ readonly known: Known; readonly query: Query }> => {
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
    const viewer = viewers.get(request);
    request.log.info({
      operation,
      ...(right ? { outcome: 'shown' } : { outcome: 'refused', reason: 'filter' }),
    });
    const text = overview(sections, at, viewer?.name ?? viewer?.accessKey ?? '');
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
    reply.type('text/csv; charset=utf-8').header('content-disposition', `attachment; filename="${fileName(at)}"`);
    if (request.method === 'HEAD') return reply.send('');
    const stream = addAbortSignal(ending, Readable.from(csvOf(store.records, query.filter, known.clients, at)));
    const sent = downloads(() => finished(stream));
    if (sent === undefined) {
      stream.destroy();
      return busy(request, reply.removeHeader('content-disposition').type('application/json; charset=utf-8'));
    }
    sent.then(
      () => request.log.info({ operation, outcome: 'downloaded' }),
      (err: unknown) => request.log.warn({ operation, outcome: 'download-broken', err }),
    );
    return reply.send(stream);
  };

  app.register((scope, _options, done) => {
    // Once, so that it is read where the program starts to serve, and not while others wait.
    const style = readFileSync(new URL('page.css', import.meta.url), 'utf8');
    scope.addHook('onRequest', async (request, reply) => {
      reply.headers(PAGE_HEADERS);
      const login = await authenticate(request.raw, store.viewers, now());
      const known = login.holder ?? login.known;
      if (known !== undefined) request.describe({ accessKey: known.accessKey, viewer: nameOfHolder(known) });
      if (login.holder !== undefined) {
        viewers.set(request, login.holder);
        return undefined;
      }
      await holdBack(request, login.failure);
      reply.code(401).header('www-authenticate', 'Basic realm="codesign page", charset="UTF-8"').type(HTML_TYPE);
      return reply.send(message('Who is there?', STRANGERS));
    });
    scope.get(PAGE_PATH, (request, reply) => pages(() => show(request, reply)) ?? busy(request, reply));
    scope.get(DOWNLOAD_PATH, download);
    scope.get(STYLE_PATH, (_request, reply) => reply.type('text/css; charset=utf-8').send(style));
    done();
  });
}

const STRANGERS = html`<p>This page is for those whom <code>codesign-remote-server viewer add</code> has given an access key and its secret:
the user name and the password that the browser asks for. Credentials for signing do not open it.</p>`;
