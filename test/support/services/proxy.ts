/** A real forward proxy, for tests: CONNECT and absolute form. Every name it is requested is this machine. */

import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import https from 'node:https';
import net, { type Socket } from 'node:net';
import { watchCredentials } from '../credential-watch.ts';
import { listen } from '../network/listen.ts';
import type { ServerIdentity } from './tls-authority.ts';

export type ProxyManner = 'good' | 'refuses' | 'answers-html' | 'hangs' | 'breaks' | 'talks-nonsense';

export interface TestProxyOptions {
  readonly manner?: ProxyManner;
  /** `name:password` that it requests. */
  readonly credentials?: string;
  readonly identity?: ServerIdentity;
}

export type TestProxy = Awaited<ReturnType<typeof startProxy>>;

export async function startProxy({ manner = 'good', credentials, identity }: TestProxyOptions = {}) {
  const asked: string[] = [];
  const headers: http.IncomingHttpHeaders[] = [];
  const [, name = '', password = ''] = /^([^:]*):(.*)$/.exec(credentials ?? '') ?? [];
  watchCredentials({ accessKey: name, accessSecret: password });
  const expected = credentials && `Basic ${Buffer.from(credentials).toString('base64')}`;
  const note = (request: IncomingMessage): boolean => {
    asked.push(`${request.method} ${request.url}`);
    headers.push(request.headers);
    return expected === undefined || request.headers['proxy-authorization'] === expected;
  };

  const server = identity === undefined ? http.createServer() : https.createServer(identity);
  const { port, keep, ...listening } = await listen(server);
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (!note(request)) response.writeHead(407, { 'proxy-authenticate': 'Basic' }).end('who are you?');
    else forward(request, response);
  });
  server.on('connect', (request: IncomingMessage, socket: Socket) => {
    keep(socket);
    const isKnown = note(request);
    if (!isKnown) socket.end('HTTP/1.1 407 Who\r\nproxy-authenticate: Basic\r\ncontent-length: 0\r\n\r\n');
    else if (manner === 'good') tunnel(request, socket, keep);
    else MANNERS[manner](socket);
  });
  return {
    url: `${identity === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    /** What it was requested, as it was written: `CONNECT host:port`, `POST http://host:port/path`. */
    asked: asked as readonly string[],
    /** Header fields that it saw; nothing of what went through a tunnel is among them. */
    headers: headers as readonly http.IncomingHttpHeaders[],
    [Symbol.asyncDispose]: listening.stop,
  };
}

const MANNERS: Readonly<Record<Exclude<ProxyManner, 'good'>, (socket: Socket) => unknown>> = {
  refuses: (socket) => socket.end('HTTP/1.1 403 Forbidden\r\n\r\n'),
  'answers-html': (socket) => socket.end('HTTP/1.1 503 Down\r\ncontent-type: text/html\r\n\r\n<html>no</html>'),
  hangs: () => undefined,
  breaks: (socket) => socket.destroy(),
  'talks-nonsense': (socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n'),
};

function tunnel(request: IncomingMessage, socket: Socket, keep: (socket: Socket) => void): void {
  const target = net.connect(Number(/:(\d+)$/.exec(request.url ?? '')?.[1]), '127.0.0.1');
  keep(target);
  target.once('connect', () => {
    socket.write('HTTP/1.1 200 Established\r\n\r\n');
    target.pipe(socket).pipe(target);
  });
}

function forward(request: IncomingMessage, response: ServerResponse): void {
  const { port, pathname, search } = new URL(request.url ?? '');
  const { 'proxy-authorization': _, ...headers } = request.headers;
  const options = { host: '127.0.0.1', port, path: pathname + search, method: request.method, headers };
  const onward = http.request(options, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  onward.on('error', () => response.destroy());
  request.pipe(onward);
}
