/**
 * An RFC 3161 authority for tests: an HTTP server over `openssl ts`, with a PKI of its own, that also answers wrongly in
 * every way requested. What it answers is made by OpenSSL alone, so that it can check what this program makes and reads.
 */

import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type CounterSignOptions, createTimestampDesk, POLICY, type StampOptions } from './timestamp-desk.ts';
import { makeTimestampPki, type TimestampCertificate } from './timestamp-pki.ts';

export const AUTHORITY_MODES = [
  'ok',
  'granted-with-mods',
  // A good answer after 300 ms. */
  'slow',
  // Once 429 with Retry-After: 1, then good.
  'throttled-once',
  // Once 503, then good.
  'unavailable-once',
  'throttled',
  'http500',
  'http404',
  'redirect',
  'http200html',
  'empty',
  'garbage',
  'hang',
  // The connection is closed without an answer.
  'reset',
  'reject',
  // Of another request: all is good about it but what it is for.
  'replay',
  'nonce-wrong',
  'nonce-missing',
  'imprint-wrong',
  // Over another algorithm's digest of who knows what.
  'imprint-algorithm-wrong',
  'policy-wrong',
  // One bit of the signature value is flipped.
  'corrupt',
  'certificate-missing',
  'certificate-expired',
  // Timestamping, but not critical.
  'purpose-uncritical',
  // Timestamping and code signing.
  'purpose-several',
  // Code signing.
  'purpose-wrong',
  // The token names (ESSCertID) another certificate of the same name, serial number and key.
  'certificate-differs',
  // genTime 2024-06-01, when the certificates were valid already.
  'past',
  // genTime 2040-06-01, when they still are.
  'future',
] as const;
export type AuthorityMode = (typeof AUTHORITY_MODES)[number];

export interface AuthorityRequest {
  readonly mode: string;
  readonly method: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** Milliseconds since 1970. */
  readonly at: number;
}

export interface TimestampAuthority {
  /** Of the mode `ok`. */
  readonly url: string;
  urlOf(mode: AuthorityMode): string;
  readonly rootPem: string;
  /** The authority's own certificate. */
  readonly certificatePem: string;
  certificatePemOf(name: TimestampCertificate): string;
  /** Its policy, dotted. */
  readonly policy: string;
  readonly requests: readonly AuthorityRequest[];
  /** The most requests that were under way at one time. */
  mostAtOnce(): number;
  /** TCP connections taken. */
  connections(): number;
  /** The token for these bytes without HTTP. */
  stamp(bytes: Uint8Array, options?: StampOptions): Promise<Buffer>;
  /** The SignerInfo of an older timestamp on this signature value; its certificate is `certificatePem`. */
  counterSign(signatureValue: Uint8Array, options?: CounterSignOptions): Promise<Buffer>;
  stop(): Promise<void>;
}

const SLOW_MILLISECONDS = 300;

export async function startTimestampAuthority(): Promise<TimestampAuthority> {
  const folder = await mkdtemp(path.join(tmpdir(), 'codesign-tsa-'));
  const pki = await makeTimestampPki(folder);
  const desk = createTimestampDesk(pki);
  const requests: AuthorityRequest[] = [];
  const seen = new Set<string>();
  let underWay = 0;
  let most = 0;

  const answer = async (mode: string, query: Buffer, response: ServerResponse): Promise<void> => {
    const isFirst = !seen.has(mode);
    seen.add(mode);
    const send = (body: string | Buffer, status = 200, headers: Readonly<Record<string, string>> = {}) =>
      response.writeHead(status, { 'content-type': 'application/timestamp-reply', ...headers }).end(body);
    switch (mode) {
      case 'hang':
        return;
      case 'reset':
        response.socket?.resetAndDestroy();
        return;
      case 'http500':
        return void send('boom', 500, { 'content-type': 'text/plain' });
      case 'http404':
        return void send('not here', 404, { 'content-type': 'text/plain' });
      case 'redirect':
        return void send('', 302, { location: '/ok' });
      case 'http200html':
        return void send('<html>captive portal</html>', 200, { 'content-type': 'text/html' });
      case 'throttled':
        return void send('', 429, { 'retry-after': '2' });
      case 'throttled-once':
        if (isFirst) return void send('', 429, { 'retry-after': '1' });
        break;
      case 'unavailable-once':
        if (isFirst) return void send('', 503);
        break;
      case 'empty':
        return void send('');
      case 'garbage':
        return void send(Buffer.from([0x30, 0x82, 1, 2, 3, 4, 5]));
      case 'slow':
        await pause(SLOW_MILLISECONDS);
        break;
      default:
    }
    send(await desk.reply(query, mode));
  };

  let connections = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const mode = (request.url ?? '').replace(/^\/|[/?].*$/g, '') || 'ok';
      const body = Buffer.concat(chunks);
      requests.push({ mode, method: request.method, headers: request.headers, body, at: Date.now() });
      underWay += 1;
      most = Math.max(most, underWay);
      response.on('close', () => {
        underWay -= 1;
      });
      answer(mode, body, response).catch((error: unknown) => {
        if (!response.headersSent) response.writeHead(500).end(String(error));
      });
    });
  });
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const urlOf = (mode: string): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}/${mode}`;

  return {
    url: urlOf('ok'),
    urlOf,
    rootPem: pki.rootPem,
    certificatePem: pki.certificatePem,
    certificatePemOf: pki.certificatePemOf,
    policy: POLICY,
    requests,
    mostAtOnce: () => most,
    connections: () => connections,
    stamp: desk.stamp,
    counterSign: desk.counterSign,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await desk.idle();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
