/** More ways to fail a caller: answers that are nearly those of the contract, that are another server's, or not even HTTP. */

import { brotliCompressSync, deflateRawSync, gzipSync } from 'node:zlib';
import {
  answer,
  changed,
  type Exchange,
  envelope,
  LEFT_OPEN,
  type Misbehaviour,
  page,
  RECORD,
  success,
  unfinished,
  withHeaders,
} from './answering.ts';

const spoilt = (part: string, by: string): Misbehaviour => changed((text) => text.replace(part, by));
const GZIP = { 'content-encoding': 'gzip' };

const bytes = ({ response }: Exchange, body: Uint8Array, headers: Readonly<Record<string, string>>): void => {
  response.writeHead(200, { 'content-length': body.length, ...headers }).end(body);
};

const wire =
  (text: string): Misbehaviour =>
  ({ response }) =>
    response.socket?.end(text);

const redirect =
  (status: number, locate: (exchange: Exchange) => string): Misbehaviour =>
  (exchange) =>
    answer(exchange, status, '<html>moved</html>', { 'content-type': 'text/html', location: locate(exchange) });

const here = (status: number): Misbehaviour => redirect(status, ({ request }) => request.url ?? '/');
const there = (status: number): Misbehaviour => redirect(status, ({ elsewhere, request }) => elsewhere + request.url);

export const STRANGE_ANSWERS = {
  'code-beyond-numbers': spoilt('"code":0', '"code":1e999'),
  'code-negative': spoilt('"code":0', '"code":-1'),
  'code-twice': spoilt('"message"', '"code":1001,"message"'),
  'envelope-in-an-array': changed((text) => `[${text}]`),
  'data-an-array': (exchange) => answer(exchange, 200, { code: 0, data: [RECORD, exchange.signature] }),
  'data-missing': (exchange) => answer(exchange, 200, { code: 0, message: 'ok' }),
  'signature-a-number': envelope(200, 0, { id: RECORD, signature: 5 }),
  'signature-blank': envelope(200, 0, { id: RECORD, signature: ' \n' }),
  'utf-16': (exchange) =>
    bytes(exchange, Buffer.from(success(exchange), 'utf16le'), { 'content-type': 'application/json; charset=utf-16' }),
  'compressed-without-end': unfinished((exchange) => gzipSync(success(exchange)).subarray(0, -8), GZIP),
  'compressed-left-open': unfinished((exchange) => gzipSync(success(exchange)), GZIP, LEFT_OPEN),
  'deflated-without-end': unfinished((exchange) => deflateRawSync(success(exchange)), {
    'content-encoding': 'deflate',
    'content-length': 10_000,
  }),
  'compressed-with-wrong-checksum': (exchange) =>
    bytes(exchange, Buffer.concat([gzipSync(success(exchange)).subarray(0, -8), Buffer.alloc(8, 1)]), GZIP),
  'spaces-without-end': (exchange) => {
    exchange.response.writeHead(200, { 'content-type': 'application/json' });
    exchange.response.write(success(exchange));
    for (let megabytes = 0; megabytes < 6; megabytes++) exchange.response.write(Buffer.alloc(2 ** 20, ' '));
  },
  'cut-in-the-signature': unfinished((exchange) => gzipSync(success(exchange).slice(0, -30)), GZIP),
  'json-cut-in-the-signature': changed((text) => text.slice(0, -30)),
  'success-with-two-lengths': (exchange) => {
    const text = success(exchange);
    wire(`HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: ${text.length}\r\n\r\n${text}`)(exchange);
  },
  'success-with-length-and-chunks': (exchange) => {
    const text = success(exchange);
    const lengths = `Content-Length: ${text.length}\r\nTransfer-Encoding: chunked\r\n`;
    wire(`HTTP/1.1 200 OK\r\n${lengths}\r\n${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`)(exchange);
  },
  'compressed-otherwise': (exchange) =>
    bytes(exchange, brotliCompressSync(success(exchange)), { 'content-encoding': 'br' }),
  'compressed-cut-short': (exchange) => bytes(exchange, gzipSync(success(exchange)).subarray(0, -20), GZIP),
  'compressed-bomb': (exchange) =>
    bytes(exchange, gzipSync(Buffer.alloc(256 * 1024 * 1024, ' '), { level: 1 }).subarray(0, 1_000_000), GZIP),

  'redirect-302-here': here(302),
  'redirect-302-elsewhere': there(302),
  'redirect-307-elsewhere': there(307),
  'redirect-nowhere': page(302),

  'bad-request': envelope(400, 400),
  'request-timed-out': page(408),
  'gateway-timed-out': page(504),
  'unavailable-without-envelope': (exchange) =>
    answer(exchange, 503, 'try later', { 'content-type': 'text/plain', 'retry-after': '0' }),
  'throttled-at-once': withHeaders(429, () => ({ 'retry-after': '0' })),
  'unavailable-at-once': withHeaders(503, () => ({ 'retry-after': '0' })),

  'answers-with-an-alert': (exchange) => {
    exchange.response.writeHead(200, { 'content-length': 1000 });
    // An alert, fatal, internal_error (RFC 8446, section 6), where an encrypted record was to be.
    exchange.response.write('{"code":0,', () => exchange.wire?.end(Buffer.from('15030300020250', 'hex')));
  },
  'chunks-without-sense': wire('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n{"code":0}\r\n'),
  'headers-without-end': ({ response }) => {
    const socket = response.socket;
    socket?.write('HTTP/1.1 200 OK\r\n');
    const more = (): void => {
      if (socket?.writable) socket.write(`x-more: ${'x'.repeat(4000)}\r\n`, () => setImmediate(more));
    };
    more();
  },
  'two-lengths': wire('HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 50\r\n\r\n{"code":0}'),
  'length-and-chunks': wire(
    'HTTP/1.1 200 OK\r\nContent-Length: 10\r\nTransfer-Encoding: chunked\r\n\r\na\r\n{"code":0}\r\n0\r\n\r\n',
  ),
  'two-lengths-in-a-list': wire('HTTP/1.1 200 OK\r\nContent-Length: 10, 5\r\n\r\n{"code":0}'),
  'other-protocol': wire('HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n'),
  'ends-before-answer': wire(''),
} satisfies Record<string, Misbehaviour>;
