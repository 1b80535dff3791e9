/** Answers of services that chose otherwise, where the document of the API leaves the choice: none of them is at fault. */

import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { answer, type Exchange, envelope, type Misbehaviour } from './answering.ts';

/** A success; what is given replaces or adds. */
interface Chosen {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly envelope?: object;
  readonly data?: object;
}

const signed =
  ({ status = 200, headers = {}, envelope: members = {}, data = {} }: Chosen = {}): Misbehaviour =>
  (exchange) => {
    const record = { id: exchange.record, signature: exchange.signature, ...data };
    answer(exchange, status, { code: 0, message: 'ok', data: record, ...members }, headers);
  };

const text =
  (make: (exchange: Exchange) => string, headers: Readonly<Record<string, string>> = {}): Misbehaviour =>
  (exchange) =>
    answer(exchange, 200, make(exchange), headers);

const compact = ({ record, signature }: Exchange): string =>
  JSON.stringify({ code: 0, message: 'ok', data: { id: record, signature } });

const compressed =
  (compress: (text: string) => Uint8Array, coding: string): Misbehaviour =>
  (exchange) => {
    const body = compress(compact(exchange));
    exchange.response.writeHead(200, { 'content-length': body.length, 'content-encoding': coding }).end(body);
  };

/** Written as it is; `LENGTH` stands for the length of the body. */
const written =
  (head: string): Misbehaviour =>
  (exchange) => {
    const body = compact(exchange);
    exchange.response.socket?.end(head.replaceAll('LENGTH', String(body.length)) + body);
  };

export const PLAUSIBLE_SIGNATURES = {
  'status-201': signed({ status: 201 }),
  'further-members': signed({
    envelope: { requestId: 'r-1', timestamp: 1, success: true, error: null, trace: { code: 401 } },
    data: { certificate: '…', algorithm: 'SHA256', remaining: 99, code: 401, createdAt: '2026-01-01' },
  }),
  'pretty-printed': text((exchange) => `\r\n${JSON.stringify(JSON.parse(compact(exchange)), null, 2)}\r\n`),
  'message-null': signed({ envelope: { message: null } }),
  'message-missing': signed({ envelope: { message: undefined } }),
  'mark-of-byte-order': text((exchange) => `\ufeff${compact(exchange)}`),
  'no-content-type': (exchange) => exchange.response.end(compact(exchange)),
  'text-html': text(compact, { 'content-type': 'text/html' }),
  'latin-1-words': ({ response, ...exchange }) => {
    const body = compact({ response, ...exchange }).replace('"ok"', '"t\u00e4t"');
    response.writeHead(200, { 'content-type': 'application/json; charset=iso-8859-1' });
    response.end(Buffer.from(body, 'latin1'));
  },
  'in-chunks': ({ response, ...exchange }) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    for (const character of compact({ response, ...exchange })) response.write(character);
    response.end();
  },
  'closes-each-time': signed({ headers: { connection: 'close' } }),
  'asks-for-credentials': signed({ headers: { 'www-authenticate': 'Basic realm="x"' } }),
  'gzip-unrequested': compressed(gzipSync, 'gzip'),
  'x-gzip-unrequested': compressed(gzipSync, 'X-GZIP'),
  'deflate-unrequested': compressed(deflateSync, 'deflate'),
  'deflate-without-zlib-format': compressed(deflateRawSync, 'deflate'),
  'long-headers': signed({
    headers: Object.fromEntries([1, 2, 3, 4, 5, 6].map((n) => [`x-${n}`, 'x'.repeat(10_000)])),
  }),
  'length-twice': written('HTTP/1.1 200 OK\r\nContent-Length: LENGTH\r\ncontent-length:LENGTH\r\n\r\n'),
  'length-in-a-list': written('HTTP/1.1 200 OK\r\nContent-Length: LENGTH, LENGTH\r\n\r\n'),
  'lines-end-with-lf': written('HTTP/1.1 200 OK\nContent-Type: application/json\nContent-Length: LENGTH\n\n'),
  'head-in-pieces': async ({ response, pause, ...exchange }) => {
    const body = compact({ response, pause, ...exchange });
    for (const piece of ['HTTP/', '1.1 ', '200 OK\n', `Content-Length: ${body.length}\n`, '\n']) {
      response.socket?.write(piece);
      await pause(20);
    }
    response.socket?.end(body);
  },
  'id-with-signs': signed({ data: { id: 'a/b?c=d&e#f "g" \\ h' } }),
  'id-in-unicode': signed({ data: { id: '記録-№1' } }),
  'id-of-256': signed({ data: { id: '\u{20000}'.repeat(256) } }),
} satisfies Record<string, Misbehaviour>;

/** These too, but of the record only a digest is kept. */
export const PLAUSIBLE_WITH_STRANGE_RECORD = {
  'id-of-257': signed({ data: { id: '\u{20000}'.repeat(257) } }),
  'id-of-a-megabyte': signed({ data: { id: 'x'.repeat(1_200_000) } }),
  'id-unprintable': signed({ data: { id: 'record\u0000 1\u202e' } }),
  'id-like-a-digest': signed({ data: { id: `sha256:${'0'.repeat(64)} (the id is not stored: x)` } }),
} satisfies Record<string, Misbehaviour>;

/** These too, but with no record that could be reported. */
export const PLAUSIBLE_WITHOUT_RECORD = {
  'id-left-out': signed({ data: { id: undefined } }),
  'id-empty': signed({ data: { id: '' } }),
  'id-a-number': signed({ data: { id: 17 } }),
} satisfies Record<string, Misbehaviour>;

export const PLAUSIBLE_REPORTS = {
  'data-null': envelope(200, 0),
  'data-empty': envelope(200, 0, {}),
  'data-left-out': envelope(200, 0, undefined),
  created: envelope(201, 0),
  accepted: envelope(202, 0, {}, ''),
} satisfies Record<string, Misbehaviour>;

/** Answers to report-sign that refuse it: for an unknown id, an invalid status, or a record that is reported already. */
export const PLAUSIBLE_REPORT_REFUSALS = {
  'unknown-under-200': envelope(200, 404),
  'unknown-under-404': envelope(404, 404),
  'unknown-page': (exchange) => answer(exchange, 404, '<html></html>', { 'content-type': 'text/html' }),
  'again-under-409': envelope(409, 409, {}),
  'no-body': ({ response }) => response.writeHead(204).end(),
} satisfies Record<string, Misbehaviour>;

export const PLAUSIBLE_ANSWERS = {
  ...PLAUSIBLE_SIGNATURES,
  ...PLAUSIBLE_WITH_STRANGE_RECORD,
  ...PLAUSIBLE_WITHOUT_RECORD,
  ...PLAUSIBLE_REPORTS,
  ...PLAUSIBLE_REPORT_REFUSALS,
} satisfies Record<string, Misbehaviour>;
