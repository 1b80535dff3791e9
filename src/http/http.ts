/** The program's HTTP: one undici dispatcher with verified TLS, short idle connections and no hidden repeats. */

import { setImmediate as turnOfEventLoop } from 'node:timers/promises';
import type { Agent, buildConnector } from 'undici';
import { createConnector } from './connect.ts';
import { httpErrors } from './errors.ts';
import { type ExchangeRequest, exchange, type Outcome, type RequestBounds } from './exchange.ts';
import { isLoopback } from './loopback.ts';
import { isUsable, NO_PROXIES, type Proxies, proxyFor } from './proxy.ts';
import type { TrustRoots } from './roots.ts';

/** A request goes on a connection that was idle for less than 2 seconds, or on a fresh one. */
const IDLE_MILLISECONDS = 1900;
const CONNECT_MILLISECONDS = 10_000;

export interface HttpOptions {
  readonly roots: TrustRoots;
  readonly userAgent: string;
  /** At most so many connections to one origin; calls beyond them wait, and the wait counts towards their deadline. */
  readonly connections?: number | undefined;
  /** For one TCP connection with its TLS handshake. */
  readonly connectMilliseconds?: number | undefined;
  /** None unless said: the environment is not looked at here. */
  readonly proxies?: Proxies | undefined;
}

export interface JsonRequest extends RequestBounds {
  readonly url: URL;
  /** A Secret is revealed only as the request is handed over. */
  readonly headers: ExchangeRequest['headers'];
  readonly body: Uint8Array;
}

/** A request that anyone may read: to timestamp authorities, and for what certificates name (lists, responders, issuers). */
export interface PlainRequest extends RequestBounds {
  readonly url: URL;
  /** Media types of the answer. */
  readonly accept: string;
  /** Never a credential: most of these go without TLS. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface PlainPostRequest extends PlainRequest {
  readonly contentType: string;
  readonly body: Uint8Array;
}

export interface Http {
  /**
   * POSTs the body as `application/json`, once. Network failures are outcomes, not throws.
   * Throws `insecure-address` for `http:` to another machine.
   */
  postJson(request: JsonRequest): Promise<Outcome>;
  /** POSTs the body, once, by `http:` or `https:` to anywhere. Failures are outcomes, not throws; no redirect is followed. */
  post(request: PlainPostRequest): Promise<Outcome>;
  /** The same, with GET. */
  get(request: PlainRequest): Promise<Outcome>;
  /** Starts loading undici (60 ms), so that it is there when the first call is made. */
  warmUp(): void;
  /** Closes all connections; a call still under way ends as broken. */
  close(): Promise<void>;
}

export function createHttp(options: HttpOptions): Http {
  const { roots, userAgent, connections, proxies = NO_PROXIES } = options;
  const connector = createConnector({
    roots,
    timeoutMilliseconds: options.connectMilliseconds ?? CONNECT_MILLISECONDS,
  });
  const direct = openOnce(connector.connect, connections);
  // Apart from the others: a proxy may be a target too, and the connections to it differ in what they lead to.
  const { https } = proxies;
  const tunnelled = https && isUsable(https) ? openOnce(connector.through(https), connections) : undefined;

  const send = async (request: ExchangeRequest): Promise<Outcome> => {
    const proxy = proxyFor(request.url, proxies);
    const isTunnelled = proxy !== undefined && request.url.protocol === 'https:';
    const dispatcher = await (isTunnelled && tunnelled ? tunnelled : direct).open();
    // After long synchronous work neither the idle timers nor the service's closing of a connection have been looked
    // at. The first turn may end before both; the second has seen them.
    await turnOfEventLoop();
    await turnOfEventLoop();
    return exchange(dispatcher, isTunnelled ? request : { ...request, proxy });
  };
  const sendPlain = async (
    request: PlainRequest,
    method: ExchangeRequest['method'],
    contentType: Readonly<Record<string, string>>,
    body?: Uint8Array,
  ): Promise<Outcome> => {
    const { url, accept, headers, deadlineMilliseconds, sizeLimit } = request;
    // Addresses come out of certificates too, where ldap: is common.
    if (url.protocol !== 'http:' && url.protocol !== 'https:') return unknownProtocol(url);
    const all = { ...contentType, accept, 'user-agent': userAgent, ...headers };
    return send({ method, url, headers: all, body, deadlineMilliseconds, sizeLimit });
  };

  return {
    async postJson(request) {
      if (request.url.protocol !== 'https:' && !isLoopback(request.url)) {
        throw httpErrors('insecure-address', { origin: request.url.origin });
      }
      const json = { 'content-type': 'application/json', accept: 'application/json', 'user-agent': userAgent };
      return send({ ...request, method: 'POST', headers: { ...json, ...request.headers } });
    },
    post: (request) => sendPlain(request, 'POST', { 'content-type': request.contentType }, request.body),
    get: (request) => sendPlain(request, 'GET', {}),
    warmUp() {
      // A failure shows in the first call, which awaits the same promise.
      direct.open().catch(() => undefined);
    },
    async close() {
      connector.abandon();
      await Promise.all([direct.close(), tunnelled?.close()]);
    },
  };
}

interface LazyAgent {
  open(): Promise<Agent>;
  /** Does nothing where none was opened. */
  close(): Promise<void>;
}

function openOnce(connect: buildConnector.connector, connections: number | undefined): LazyAgent {
  let agent: Promise<Agent> | undefined;
  return {
    open() {
      agent ??= import('./undici.ts').then(
        (undici) =>
          new undici.Agent({
            connect,
            connections: connections ?? null,
            pipelining: 1,
            keepAliveTimeout: IDLE_MILLISECONDS,
            // The service may ask for less, never for more.
            keepAliveMaxTimeout: IDLE_MILLISECONDS,
            // The deadline of each call is the only clock.
            headersTimeout: 0,
            bodyTimeout: 0,
          }),
      );
      return agent;
    },
    async close() {
      await (await agent)?.destroy();
    },
  };
}

function unknownProtocol({ protocol }: URL): Outcome {
  const detail = `${protocol} is neither http: nor https:`;
  return { kind: 'failure', reason: 'unreachable', mayHaveArrived: false, head: undefined, detail };
}
