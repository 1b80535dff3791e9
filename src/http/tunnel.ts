/** A way through a proxy: CONNECT (RFC 9110, section 9.3.6) on a connection to it, until its socket leads to the target. */

import http from 'node:http';
import net from 'node:net';
import { ConnectFailure } from './connect-failure.ts';
import type { HttpProxy } from './proxy.ts';

export interface TunnelTarget {
  readonly hostname: string;
  readonly port: string;
}

/** Nothing of the request goes to the proxy, only the target's name. Rejects with `proxy-unauthorized`, `proxy-refused`. */
export function openTunnel(
  socket: net.Socket,
  { hostname, port }: TunnelTarget,
  { url, authorization }: HttpProxy,
  timeoutMilliseconds: number,
): Promise<net.Socket> {
  const target = `${net.isIPv6(hostname) ? `[${hostname}]` : hostname}:${port}`;
  return new Promise((resolve, reject) => {
    const request = http.request({
      method: 'CONNECT',
      path: target,
      headers: { host: target, ...(authorization && { 'proxy-authorization': authorization.reveal() }) },
      createConnection: () => socket,
    });
    const fail = (reason: 'proxy-unauthorized' | 'proxy-refused', what: string): void => {
      clearTimeout(timer);
      socket.destroy();
      reject(new ConnectFailure(reason, `${url.origin} ${what}`));
    };
    const timer = setTimeout(() => {
      fail('proxy-refused', `did not answer CONNECT within ${timeoutMilliseconds / 1000} s`);
    }, timeoutMilliseconds);
    request.on('connect', ({ statusCode = 0 }, _socket, first) => {
      if (statusCode < 200 || statusCode > 299) {
        return fail(
          statusCode === 407 ? 'proxy-unauthorized' : 'proxy-refused',
          `answered CONNECT with HTTP ${statusCode}`,
        );
      }
      clearTimeout(timer);
      if (first.length > 0) socket.unshift(first);
      resolve(socket);
    });
    // Stays attached: a connection that was given up may still report.
    request.on('error', (error) => fail('proxy-refused', `did not answer CONNECT as a proxy does: ${error.message}`));
    request.end();
  });
}
