/** Stands between the program and a real service, and lets a request or its answer come to harm on the way. */

import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import https from 'node:https';
import { buffer } from 'node:stream/consumers';
import { listen } from '../network/listen.ts';
import { startTcpRelay, type TcpRelay } from '../network/tcp-relay.ts';
import type { ServerIdentity } from './tls-authority.ts';

export type RelayedOperation = 'sign' | 'report-sign' | 'tsa';

/** Before the service is warned about the request; or after its whole answer has come to the relay. */
export type Harm =
  | 'times-out-before'
  | 'times-out-after'
  | 'reset-before'
  | 'reset-before-answer'
  | 'reset-in-answer'
  | 'reset-after-answer'
  | 'status-429'
  | 'status-500'
  | 'status-502-after'
  | 'no-answer-of-the-api'
  | 'wrong-signature'
  | LineHarm;

/** What the network does when the request has arrived. The first of them it does all the time. */
type LineHarm = 'far-and-slow' | 'reload' | 'forgotten';

export interface RelayFault {
  readonly operation: RelayedOperation;
  readonly harm: Harm;
  /** So many requests come to harm, then all is well. Default: all, up to `heal`. */
  readonly times?: number;
}

export type FaultyRelay = Awaited<ReturnType<typeof startFaultyRelay>>;

interface Upstream {
  readonly baseUrl: string;
  readonly ca: string;
  readonly timestampUrl: string;
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: Buffer;
}

const BEFORE: readonly Harm[] = ['times-out-before', 'reset-before', 'status-429', 'status-500'];

const OF_THE_LINE: readonly Harm[] = ['far-and-slow', 'reload', 'forgotten'];
const FAR_AND_SLOW = { roundTripMilliseconds: 300, bytesPerSecond: 20_000 };

export async function startFaultyRelay(identity: ServerIdentity, upstream: Upstream, fault?: RelayFault) {
  const asked = { sign: 0, 'report-sign': 0, tsa: 0 };
  const records: string[] = [];
  let line: TcpRelay;
  const agent = new https.Agent({ ca: upstream.ca, keepAlive: true });
  let left = fault?.times ?? Number.POSITIVE_INFINITY;

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await buffer(request);
    const operation = operationOf(request.url ?? '');
    asked[operation] += 1;
    const harm = operation === fault?.operation && left > 0 ? fault.harm : undefined;
    if (harm !== undefined) left -= 1;
    if (harm !== undefined && BEFORE.includes(harm)) return harmBefore(harm, response);
    if (harm === 'reload') line.reload();
    if (harm === 'forgotten') line.forget();
    const address = operation === 'tsa' ? upstream.timestampUrl : `${upstream.baseUrl}${request.url}`;
    const answer = await forward(new URL(address), request, body, agent);
    if (operation === 'sign') records.push(...recordIn(answer.body));
    if (harm === undefined || OF_THE_LINE.includes(harm)) send(response, answer);
    else harmAfter(harm, response, answer, operation);
  };

  // With TLS 1.3, session tickets come after the request, and pass for its answer when the line is reloaded.
  const server = https.createServer({ ...identity, maxVersion: 'TLSv1.2' }, (request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  const { port, stop } = await listen(server);
  line = await startTcpRelay({ port, ...(fault?.harm === 'far-and-slow' ? FAR_AND_SLOW : {}) });
  return {
    /** For --base-url; `${baseUrl}/tsa` passes on to the timestamp authority. */
    baseUrl: `https://127.0.0.1:${line.port}`,
    asked: (operation: RelayedOperation) => asked[operation],
    /** Records of the signatures that the service gave for them, whether they were passed on or not. */
    records: records as readonly string[],
    heal() {
      left = 0;
    },
    async [Symbol.asyncDispose]() {
      await line[Symbol.asyncDispose]();
      agent.destroy();
      await stop();
    },
  };
}

function operationOf(url: string): RelayedOperation {
  if (url.endsWith('/report-sign')) return 'report-sign';
  return url.endsWith('/tsa') ? 'tsa' : 'sign';
}

function harmBefore(harm: Harm, response: ServerResponse): void {
  if (harm === 'reset-before') reset(response);
  else if (harm === 'status-429') response.writeHead(429, { 'retry-after': '0' }).end();
  else if (harm === 'status-500') response.writeHead(500, { 'content-type': 'text/html' }).end('<html></html>');
}

/** Of the others, it times out. */
function harmAfter(harm: Harm, response: ServerResponse, answer: Answer, operation: RelayedOperation): void {
  if (harm === 'reset-before-answer') reset(response);
  else if (harm === 'reset-in-answer') {
    response.writeHead(answer.status, headersOf(answer));
    response.write(answer.body.subarray(0, answer.body.length / 2), () => reset(response));
  } else if (harm === 'reset-after-answer') {
    // The client has all of it, and then a connection that is dead.
    response.on('finish', () => setImmediate(() => reset(response)));
    send(response, answer);
  } else if (harm === 'status-502-after') response.writeHead(502).end();
  else if (harm === 'no-answer-of-the-api')
    send(response, { status: 200, type: 'text/html', body: Buffer.from('<html>Welcome</html>') });
  else if (harm === 'wrong-signature') send(response, { ...answer, body: spoilt(answer.body, operation) });
}

function reset({ socket }: ServerResponse): void {
  // Without TLS's goodbye, which would make it an end that is meant.
  socket?.destroy();
}

/** One wrong bit in the signature; a token's stands at its end. */
function spoilt(body: Buffer, operation: RelayedOperation): Buffer {
  if (operation === 'sign') {
    const envelope = JSON.parse(body.toString('utf8'));
    const signature = Buffer.from(envelope.data.signature, 'base64');
    signature.writeUInt8(signature.readUInt8(40) ^ 1, 40);
    const data = { ...envelope.data, signature: signature.toString('base64') };
    return Buffer.from(JSON.stringify({ ...envelope, data }));
  }
  const token = Buffer.from(body);
  token.writeUInt8(token.readUInt8(token.length - 5) ^ 1, token.length - 5);
  return token;
}

function recordIn(body: Buffer): readonly string[] {
  const { data } = JSON.parse(body.toString('utf8'));
  return typeof data?.id === 'string' ? [data.id] : [];
}

function headersOf({ type, body }: Answer): Readonly<Record<string, string | number>> {
  return { 'content-type': type, 'content-length': body.length };
}

function send(response: ServerResponse, answer: Answer): void {
  response.writeHead(answer.status, headersOf(answer)).end(answer.body);
}

async function forward(url: URL, request: IncomingMessage, body: Buffer, agent: https.Agent): Promise<Answer> {
  const { 'content-type': contentType = '', authorization } = request.headers;
  const headers = { 'content-type': contentType, ...(authorization === undefined ? {} : { authorization }) };
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent =
      url.protocol === 'http:'
        ? http.request(url, { method: 'POST', headers }, resolve)
        : https.request(url, { method: 'POST', agent, headers }, resolve);
    sent.on('error', reject).end(body);
  });
  return { status: answer.statusCode ?? 0, type: answer.headers['content-type'] ?? '', body: await buffer(answer) };
}
