/** The program's HTTP: one undici dispatcher with verified TLS, short idle connections and no hidden repeats. */

import { setImmediate as turnOfEventLoop } from 'node:timers/promises';
import type { Agent } from 'undici';
import { createConnector } from './connect.ts';
import { httpErrors } from './errors.ts';
import { isLoopback } from './loopback.ts';
import { type Outcome, type PostRequest, post } from './post.ts';
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
}

export interface Http {
  /**
   * POSTs the body as `application/json`, once. Network failures are outcomes, not throws.
   * Throws `insecure-address` for `http:` to another machine.
   */
  postJson(request: PostRequest): Promise<Outcome>;
  /** Starts loading undici (60 ms), so that it is there when the first call is made. */
  warmUp(): void;
  /** Closes all connections; a call still under way ends as broken. */
  close(): Promise<void>;
}

export function createHttp({ roots, userAgent, connections, connectMilliseconds }: HttpOptions): Http {
  const connector = createConnector({ roots, timeoutMilliseconds: connectMilliseconds ?? CONNECT_MILLISECONDS });
  let agent: Promise<Agent> | undefined;
  const open = (): Promise<Agent> => {
    agent ??= import('./undici.ts').then(
      (undici) =>
        new undici.Agent({
          connect: connector.connect,
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
  };

  return {
    async postJson(request) {
      if (request.url.protocol !== 'https:' && !isLoopback(request.url)) {
        throw httpErrors('insecure-address', { origin: request.url.origin });
      }
      const dispatcher = await open();
      // After long synchronous work neither the idle timers nor the service's closing of a connection have been looked
      // at. The first turn may end before both; the second has seen them.
      await turnOfEventLoop();
      await turnOfEventLoop();
      return post(dispatcher, {
        ...request,
        headers: {
          'content-type': 'application/json',
          accept: 'application/json',
          'user-agent': userAgent,
          ...request.headers,
        },
      });
    },
    warmUp() {
      // A failure shows in the first call, which awaits the same promise.
      open().catch(() => undefined);
    },
    async close() {
      connector.abandon();
      await (await agent)?.destroy();
    },
  };
}
