/** A real HTTPS signing service that fails its callers in one chosen way: for tests of the client and of the command line. */

import { type KeyObject, privateEncrypt } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import https from 'node:https';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { digestInfo } from '../../../src/cms/build-signed-data.ts';
import type { DigestAlgorithm } from '../../../src/crypto/algorithms.ts';
import { listen } from '../network/listen.ts';
import { answer, type Exchange, type Misbehaviour } from './answering.ts';
import { MISBEHAVIOURS, type MisbehaviourName } from './misbehaving-answers.ts';
import { createTlsAuthority, type ServerIdentity } from './tls-authority.ts';

/**
 * `good` answers as the contract says; `breaks-handshake` and `no-tls` fail before a request can be sent; `by-file-name`
 * lets one batch meet many answers.
 */
export type ServiceMode = 'good' | 'breaks-handshake' | 'no-tls' | 'by-file-name' | MisbehaviourName;

export interface MisbehavingServiceOptions {
  /** Signs what is requested with PKCS#1 v1.5 over the digest; without it a signature is 256 bytes of no meaning. */
  readonly key?: KeyObject | undefined;
  /** Which operation misbehaves; the other one is good. Default: sign. */
  readonly operation?: 'sign' | 'report-sign' | undefined;
  readonly after?: number | undefined;
  /** Only so many requests go wrong, then all is good. Default: all of them. */
  readonly times?: number | undefined;
  /** Default: a certificate for localhost, 127.0.0.1 and ::1 that `caFile` vouches for. */
  readonly certificate?: 'valid' | 'other-name' | undefined;
  /** A name to reach it by through a proxy: then `baseUrl` and the certificate have it. */
  readonly name?: string | undefined;
  readonly path?: string | undefined;
  readonly plain?: boolean | undefined;
  /** With mode `by-file-name`: what to do with a call for `name.ending`, or with the report on it, by that name. */
  readonly byName?: Readonly<Record<string, Misbehaviour>> | undefined;
  /** Closes TCP connections beyond so many at a time, before TLS. Default: any number is taken. */
  readonly mostConnections?: number | undefined;
  /** How long every answer to sign takes. Default: no time. */
  readonly milliseconds?: number | undefined;
  /** Scheme, host and port of another server, for redirects to it. */
  readonly elsewhere?: string | undefined;
}

export interface ReceivedRequest {
  readonly path: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
  readonly at: number;
}

export type MisbehavingService = Awaited<ReturnType<typeof startMisbehavingService>>;

const SIGN = '/v1/codesign/sign';
const REPORT = '/v1/codesign/report-sign';

export async function startMisbehavingService(mode: ServiceMode, options: MisbehavingServiceOptions = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'codesign-service-'));
  const caFile = join(folder, 'ca.pem');
  const { identity, root } = makeIdentity(options.certificate ?? 'valid', options.name);
  await writeFile(caFile, root);

  const requests: ReceivedRequest[] = [];
  const names = new Map<string, string>();
  const stopped = new AbortController();
  const { path: prefix = '', operation = 'sign', after = 0, times = Number.POSITIVE_INFINITY } = options;
  const misbehaving = operation === 'sign' ? SIGN : REPORT;
  let misbehaved = 0;
  let good = 0;

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await readBody(request);
    if (body === undefined) return;
    const path = request.url ?? '';
    requests.push({ path, headers: request.headers, body, at: performance.now() });
    const exchange: Exchange = {
      request,
      response,
      wire: [...listening.sockets].find(({ remotePort }) => remotePort === request.socket.remotePort),
      signature: makeSignature(body, options.key),
      record: `record-${requests.length}`,
      elsewhere: options.elsewhere ?? '',
      pause: pauseUntil(stopped.signal),
    };
    if (options.milliseconds !== undefined && path === prefix + SIGN) await exchange.pause(options.milliseconds);
    const name = mode === 'by-file-name' ? nameIn(body, names) : mode;
    if (path === prefix + SIGN) names.set(exchange.record, name);
    const misbehave = { ...MISBEHAVIOURS, ...options.byName }[name];
    const isChosen = path === prefix + misbehaving;
    const goesWrong = isChosen && good >= after && misbehaved < times;
    if (isChosen && !goesWrong) good += 1;
    if (goesWrong && misbehave !== undefined) {
      misbehaved += 1;
      await misbehave(exchange);
    } else if (path === prefix + SIGN) {
      const data = { id: exchange.record, signature: exchange.signature };
      answer(exchange, 200, { code: 0, message: 'ok', data });
    } else if (path === prefix + REPORT) {
      answer(exchange, 200, { code: 0, message: 'ok', data: null });
    } else {
      answer(exchange, 404, { code: 404, message: 'no such path', data: null });
    }
  };

  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    handle(request, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  };
  const server = createServer(mode, options.plain ?? false, identity, listener);
  if (options.mostConnections !== undefined) server.maxConnections = options.mostConnections;
  const listening = await listen(server);

  return {
    baseUrl: `${options.plain ? 'http' : 'https'}://${options.name ?? '127.0.0.1'}:${listening.port}${prefix}`,
    /** PEM file in a temporary folder. */
    caFile,
    /** Every request that arrived whole, in order. */
    requests: (): readonly ReceivedRequest[] => [...requests],
    signRequests: () => requests.filter(({ path }) => path === prefix + SIGN).length,
    connections: listening.connections,
    async stop() {
      stopped.abort();
      await listening.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

function createServer(mode: ServiceMode, plain: boolean, identity: ServerIdentity, listener: Listener): net.Server {
  if (mode === 'breaks-handshake') return net.createServer((socket) => socket.once('data', () => socket.destroy()));
  if (mode === 'no-tls') return net.createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  return plain ? http.createServer(listener) : https.createServer(identity, listener);
}

function makeIdentity(kind: NonNullable<MisbehavingServiceOptions['certificate']>, name = 'localhost') {
  const authority = createTlsAuthority();
  const names = kind === 'other-name' ? ['elsewhere.example'] : [name, 'localhost', '127.0.0.1', '::1'];
  return { identity: authority.issue({ names }), root: authority.root };
}

/** The name of the file that a call is for, without its ending; of a report, by what is known of its record. */
function nameIn(body: string, names: ReadonlyMap<string, string>): string {
  const { id, extra } = JSON.parse(body) as { id?: string; extra?: { signing_filename?: string } };
  return names.get(id ?? '') ?? extra?.signing_filename?.replace(/\.[^.]*$/, '') ?? '';
}

async function readBody(request: IncomingMessage): Promise<string | undefined> {
  return await text(request).catch(() => undefined);
}

const pauseUntil = (signal: AbortSignal) => (milliseconds: number) =>
  new Promise<void>((resolve) => {
    setTimeout(() => {
      if (!signal.aborted) resolve();
    }, milliseconds);
  });

function makeSignature(body: string, key: KeyObject | undefined): string {
  if (key === undefined) return Buffer.alloc(256, 0x5a).toString('base64');
  const { digest, algorithm } = JSON.parse(body) as { digest?: string; algorithm?: DigestAlgorithm };
  if (digest === undefined || algorithm === undefined) return '';
  return privateEncrypt(key, digestInfo(algorithm, Buffer.from(digest, 'base64'))).toString('base64');
}
