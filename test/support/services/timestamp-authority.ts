/**
 * An RFC 3161 authority for tests: an HTTP server with its own PKI. On request, it also gives each kind of wrong answer.
 */

import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { listen } from '../network/listen.ts';
import { createTimestampDesk, POLICY, type ReplyMode } from './timestamp-desk.ts';
import { makeTimestampPki } from './timestamp-pki.ts';

export type AuthorityMode =
  | 'ok'
  | 'slow'
  | 'hang'
  | 'reset'
  | ReplyMode
  | keyof typeof ONCE
  | keyof typeof WITHOUT_TOKEN;

export interface AuthorityRequest {
  readonly mode: string;
  readonly method: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export type TimestampAuthority = Awaited<ReturnType<typeof startTimestampAuthority>>;

const SLOW_MILLISECONDS = 300;
type Answer = readonly [status: number, body?: string | Buffer, headers?: Readonly<Record<string, string>>];
/** Then a good one follows. */
const ONCE = {
  'throttled-once': [429, '', { 'retry-after': '1' }],
  'unavailable-once': [503],
} as const satisfies Record<string, Answer>;
const WITHOUT_TOKEN = {
  http500: [500, 'boom', { 'content-type': 'text/plain' }],
  http404: [404, 'not here', { 'content-type': 'text/plain' }],
  redirect: [302, '', { location: '/ok' }],
  http200html: [200, '<html>captive portal</html>', { 'content-type': 'text/html' }],
  throttled: [429, '', { 'retry-after': '2' }],
  empty: [200],
  garbage: [200, Buffer.from([0x30, 0x82, 1, 2, 3, 4, 5])],
} satisfies Record<string, Answer>;

export async function startTimestampAuthority() {
  const pki = makeTimestampPki();
  const desk = createTimestampDesk(pki);
  const requests: AuthorityRequest[] = [];
  const seen = new Set<string>();

  const answer = async (mode: string, query: Buffer, response: ServerResponse): Promise<void> => {
    const isFirst = !seen.has(mode);
    seen.add(mode);
    const send = (body: string | Buffer, status = 200, headers: Readonly<Record<string, string>> = {}) =>
      response.writeHead(status, { 'content-type': 'application/timestamp-reply', ...headers }).end(body);
    const answers: Readonly<Record<string, Answer>> = isFirst ? { ...ONCE, ...WITHOUT_TOKEN } : WITHOUT_TOKEN;
    const [status, body, headers] = answers[mode] ?? [];
    if (mode === 'hang') return;
    if (mode === 'reset') return void response.socket?.resetAndDestroy();
    if (status !== undefined) return void send(body ?? '', status, headers);
    if (mode === 'slow') await pause(SLOW_MILLISECONDS);
    send(desk.reply(query, mode));
  };

  const server = createServer(async (request, response) => {
    const mode = (request.url ?? '').replace(/^\/|[/?].*$/g, '') || 'ok';
    const body = await buffer(request);
    requests.push({ mode, method: request.method, headers: request.headers, body });
    await answer(mode, body, response).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500).end(String(error));
    });
  });
  const { port, connections, stop } = await listen(server);
  const urlOf = (mode: AuthorityMode): string => `http://127.0.0.1:${port}/${mode}`;

  return {
    ...{ stamp: desk.stamp, connections },
    certificates: pki.certificates,
    rootPem: pki.root.pem,
    url: urlOf('ok'),
    urlOf,
    policy: POLICY,
    requests: requests as readonly AuthorityRequest[],
    stop,
  };
}
