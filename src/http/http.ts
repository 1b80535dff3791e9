import { setImmediate as turnOfEventLoop } from 'node:timers/promises';
import { type AddressBook, createAddressBook } from './addresses.ts';
import { createAgent } from './agent.ts';
import { createConnector } from './connect.ts';
import { httpErrors } from './errors.ts';
import { exchange } from './exchange.ts';
import { isLoopback, isUsable, NO_PROXIES, type Proxies, proxyFor } from './proxy.ts';
import type { ExchangeRequest, Outcome, RequestBounds } from './request.ts';
import type { TrustRoots } from './roots.ts';

export const LONGEST_TO_CONNECT_MILLISECONDS = 10_000;

export interface HttpOptions {
  readonly roots: TrustRoots;
  readonly userAgent: string;
  /** Limit on the connections to one origin. Further requests wait, which counts towards their deadlines. */
  readonly connections?: number | undefined;
  readonly connectMilliseconds?: number | undefined;
  /** By default, requests use no proxy. */
  readonly proxies?: Proxies | undefined;
  readonly names?: AddressBook | undefined;
}

export interface JsonRequest extends Pick<ExchangeRequest, 'url' | 'headers'>, RequestBounds {
  readonly body: Uint8Array;
}

/** A request to a timestamp authority or to a URL in a certificate (CRL, OCSP responder, issuer). */
interface PlainRequest extends RequestBounds {
  readonly url: URL;
  readonly accept: string;
  /** These headers must not contain credentials, because most of these requests do not use TLS. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface PlainPostRequest extends PlainRequest {
  readonly contentType: string;
  readonly body: Uint8Array;
}

export interface Http {
  /** POSTs JSON once. Throws for an `http:` URL of another machine. */
  postJson(request: JsonRequest): Promise<Outcome>;
  post(request: PlainPostRequest): Promise<Outcome>;
  get(request: PlainRequest): Promise<Outcome>;
  /** Opens connections in advance. The first request reports a failure of the first connection. */
  prepare(url: URL, count?: number): void;
  /** Resolves the host name in advance. Failures have no effect. */
  resolve(url: URL): void;
  /** Closes all connections, so requests in progress fail. */
  close(): Promise<void>;
}

export function createHttp(options: HttpOptions): Http {
  const { roots, userAgent, connections, proxies = NO_PROXIES, names = createAddressBook() } = options;
  const connector = createConnector(roots, options.connectMilliseconds ?? LONGEST_TO_CONNECT_MILLISECONDS, names);
  const openAgents = () => {
    const { https } = proxies;
    return {
      direct: createAgent(connector.connect, connections),
      // Tunnels need an agent of their own, because the proxy itself may be the target of other requests.
      tunnelled: https && isUsable(https) ? createAgent(connector.through(https), connections, true) : undefined,
    };
  };
  let agents = openAgents();
  const retired: (typeof agents)[] = [];
  const standstills = watchStandstills(() => {
    retired.push(agents);
    // Requests that wait for a connection of the old agent move to the new agent.
    for (const agent of Object.values(agents)) agent?.retire().catch(() => undefined);
    agents = openAgents();
  });

  const agentFor = (url: URL) => {
    standstills.look();
    const { direct, tunnelled } = agents;
    const proxy = proxyFor(url, proxies);
    if (proxy === undefined || url.protocol !== 'https:' || tunnelled === undefined) return { agent: direct, proxy };
    return { agent: tunnelled, proxy: undefined };
  };
  const send = async (request: ExchangeRequest): Promise<Outcome> => {
    await agentFor(request.url).agent.get();
    await request.beforeSend?.();
    for (;;) {
      // After long synchronous work, Node.js has not processed idle timers and closed connections. Two turns of the
      // event loop process both.
      await turnOfEventLoop();
      await turnOfEventLoop();
      const { agent, proxy } = agentFor(request.url);
      const current = agents;
      const outcome = await exchange(await agent.get(), { ...request, proxy }, () => {
        standstills.look();
        return agents !== current;
      });
      if (outcome !== undefined) return outcome;
    }
  };
  const sendPlain = async (
    request: PlainRequest,
    method: ExchangeRequest['method'],
    contentType: Readonly<Record<string, string>>,
    body?: Uint8Array,
  ): Promise<Outcome> => {
    const { url, accept, headers, ...bounds } = request;
    // Some URLs in certificates use ldap:.
    if (url.protocol !== 'http:' && url.protocol !== 'https:') {
      const detail = `${url.protocol} is neither http: nor https:`;
      return { kind: 'failure', reason: 'unreachable', mayHaveArrived: false, head: undefined, detail };
    }
    const all = { ...contentType, accept, 'user-agent': userAgent, ...headers };
    return send({ ...bounds, method, url, headers: all, body });
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
    prepare(url, count = 1) {
      const { agent, proxy } = agentFor(url);
      agent.prepare(proxy?.url ?? url, count);
    },
    resolve(url) {
      if (proxyFor(url, proxies) === undefined) names.lookup(url.hostname, { all: true }, () => undefined);
    },
    async close() {
      connector.abandon();
      standstills.stop();
      await Promise.all([agents, ...retired].flatMap(Object.values).map((agent) => agent?.close()));
    },
  };
}

const TICK_MILLISECONDS = 500;
/** Longest idle time of a connection, plus one tick. */
const STANDSTILL_MILLISECONDS = 2400;

/**
 * Servers may close connections while the process is suspended or the machine sleeps. Uses the time of day, because other
 * clocks stop while the machine sleeps.
 */
function watchStandstills(onStandstill: () => void) {
  let last = Date.now();
  const look = (): void => {
    const now = Date.now();
    const isLate = now - last > STANDSTILL_MILLISECONDS;
    last = now;
    if (isLate) onStandstill();
  };
  const timer = setInterval(look, TICK_MILLISECONDS).unref();
  return {
    look,
    stop: (): void => clearInterval(timer),
  };
}
