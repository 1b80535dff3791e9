/** Clients and servers that end with the test that opens them. */

import net from 'node:net';
import { onTestFinished } from 'vitest';
import { createHttp, type Http, type HttpOptions, type JsonRequest } from '../../../../src/http/http.ts';
import type { Outcome } from '../../../../src/http/request.ts';
import { listen as startListening } from '../../../support/network/listen.ts';

export function openHttp(options: Partial<HttpOptions> = {}): Http {
  const http = createHttp({ roots: { own: undefined, all: async () => undefined }, userAgent: 'test', ...options });
  onTestFinished(() => http.close());
  return http;
}

export const BOUNDS = { deadlineMilliseconds: 5000, sizeLimit: 1000 };

export const post = (http: Http, url: string, more: Partial<JsonRequest> = {}): Promise<Outcome> =>
  http.postJson({ ...BOUNDS, url: new URL(url), headers: {}, body: Buffer.from('{}'), ...more });

export const get = (http: Http, url: string, deadlineMilliseconds = 5000): Promise<Outcome> =>
  http.get({ ...BOUNDS, url: new URL(url), accept: '*/*', deadlineMilliseconds });

/** Gives the port. */
export async function listen(server: net.Server): Promise<number> {
  const { port, stop } = await startListening(server);
  onTestFinished(stop);
  return port;
}

/** A port at which nothing listens. */
export async function closedPort(): Promise<number> {
  const { port, stop } = await startListening(net.createServer());
  await stop();
  return port;
}
