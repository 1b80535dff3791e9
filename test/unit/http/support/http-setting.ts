/** Clients and servers that end with the test that opens them. */

import type net from 'node:net';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { createHttp, type Http, type HttpOptions, type JsonRequest } from '../../../../src/http/http.ts';
import type { Outcome } from '../../../../src/http/request.ts';

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
  const sockets = new Set<net.Socket>();
  server.on('connection', (socket: net.Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}
