import type net from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach } from 'vitest';
import { createHttp, type Http, type HttpOptions } from '../../../../src/http/http.ts';

/** Clients and servers that end with each test of the file that calls this. Files share modules, so each one calls it. */
export function httpSetting() {
  const closers: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });
  return {
    openHttp(options: Partial<HttpOptions> = {}): Http {
      const http = createHttp({ roots: { own: undefined, all: async () => undefined }, userAgent: 'test', ...options });
      closers.push(() => http.close());
      return http;
    },
    /** Gives the port. */
    async listen(server: net.Server): Promise<number> {
      const sockets = new Set<net.Socket>();
      server.on('connection', (socket: net.Socket) => {
        sockets.add(socket);
        socket.on('error', () => undefined);
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      closers.push(async () => {
        for (const socket of sockets) socket.destroy();
        await new Promise((resolve) => server.close(resolve));
      });
      return (server.address() as AddressInfo).port;
    },
  };
}
