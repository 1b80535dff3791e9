import { setImmediate as turnOfEventLoop } from 'node:timers/promises';
import { type AddressBook, createAddressBook } from './addresses.ts';
import { createAgent } from './agent.ts';
import { createConnector } from './connect.ts';
import { httpErrors } from './errors.ts';
import { exchange } from './exchange.ts';
import { isLoopback, isUsable, NO_PROXIES, type Proxies, proxyFor } from './proxy.ts';
import type { ExchangeRequest, Outcome, RequestBounds } from './request.ts';
import type { TrustRoots } from './roots.ts';
import { watchStandstills } from './standstill.ts';

export const LONGEST_TO_CONNECT_MILLISECONDS = 10_000;

export interface HttpOptions {
  readonly roots: TrustRoots;
  readonly userAgent: string;
  /** Limit on connections to one origin. Further requests wait, and the wait counts towards their deadline. */
  readonly connections?: number | undefined;
  readonly connectMilliseconds?: number | undefined;
  /** Default: no proxies, because the environment is not read here. */
  readonly proxies?: Proxies | undefined;
  readonly names?: AddressBook | undefined;
}

export interface JsonRequest extends Pick<ExchangeRequest, 'url' | 'headers'>, RequestBounds {
  readonly body: Uint8Array;
}

/** A request without secrets, to a timestamp authority or a URL from a certificate (CRL, OCSP responder, issuer). */
export interface PlainRequest extends RequestBounds {
  readonly url: URL;
  readonly accept: string;
  /** Must not contain credentials, because most of these requests use no TLS. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface PlainPostRequest extends PlainRequest {
  readonly contentType: string;
  readonly body: Uint8Array;
}

export interface Http {
  /** POSTs JSON once. Network failures are outcomes; throws for `http:` to another machine. */
  postJson(request: JsonRequest): Promise<Outcome>;
  /** POSTs once to any URL, without redirects. Failures are outcomes, not exceptions. */
  post(request: PlainPostRequest): Promise<Outcome>;
  get(request: PlainRequest): Promise<Outcome>;
  /** Opens connections in advance. If the first one fails, the first request reports the failure. */
  prepare(url: URL, count?: number): void;
  /** Resolves the name before it is needed. If the query fails, the first connection tries again. */
  resolve(url: URL): void;
  /** Closes all connections. Running requests fail with a broken connection. */
  close(): Promise<void>;
}

export function createHttp(options: HttpOptions): Http {
  const { roots, userAgent, connections, proxies = NO_PROXIES, names = createAddressBook() } = options;
  const connector = createConnector(roots, options.connectMilliseconds ?? LONGEST_TO_CONNECT_MILLISECONDS, names);
  const openAgents = () => {
    const { https } = proxies;
    return {
      direct: createAgent(connector.connect, connections),
      // Uses a separate agent, because its connections do not end at the proxy, which may also be a target itself.
      tunnelled: https && isUsable(https) ? createAgent(connector.through(https), connections, true) : undefined,
    };
  };
  let agents = openAgents();
  const retired: (typeof agents)[] = [];
  const standstills = watchStandstills(() => {
    retired.push(agents);
    // Requests that wait for a connection of the old agent use the new one.
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
      // After long synchronous work, Node.js has processed neither idle timers nor connections that the service closed.
      // Two turns of the event loop are needed until both have certainly been processed.
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
    // URLs in certificates often use ldap:.
    if (url.protocol !== 'http:' && url.protocol !== 'https:') return unknownProtocol(url);
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

function unknownProtocol({ protocol }: URL): Outcome {
  const detail = `${protocol} is neither http: nor https:`;
  return { kind: 'failure', reason: 'unreachable', mayHaveArrived: false, head: undefined, detail };
}
