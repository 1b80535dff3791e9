/** What the answers of a misbehaving service are made of. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly wire: Socket | undefined;
  /** A Base64 signature over the digest requested. */
  readonly signature: string;
  /** A record id that no other answer has. */
  readonly record: string;
  readonly elsewhere: string;
  /** Resolves after so many milliseconds, or never once the service has stopped. */
  readonly pause: (milliseconds: number) => Promise<void>;
}

export type Misbehaviour = (exchange: Exchange) => unknown;

export const RECORD = 'record-1';

export function answer(
  { response }: Exchange,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    ...headers,
  });
  response.end(text);
}

export const envelope =
  (status: number, code: unknown, data: unknown = null, message: unknown = 'text'): Misbehaviour =>
  (exchange) =>
    answer(exchange, status, { code, message, data });

export const page =
  (status: number): Misbehaviour =>
  (exchange) =>
    answer(exchange, status, '<!DOCTYPE html><html><body>Welcome</body></html>', { 'content-type': 'text/html' });

export const withHeaders =
  (status: number, headers: () => Record<string, string>, code = status): Misbehaviour =>
  (exchange) =>
    answer(exchange, status, { code, message: 'text', data: null }, headers());

export const success = ({ signature }: Exchange): string =>
  JSON.stringify({ code: 0, message: 'ok', data: { id: RECORD, signature } });

export const changed =
  (change: (text: string) => string): Misbehaviour =>
  (exchange) =>
    answer(exchange, 200, change(success(exchange)));

export const withSignature =
  (change: (signature: string, exchange: Exchange) => string, idOf = ({ record }: Exchange) => record): Misbehaviour =>
  (exchange) => {
    const signature = change(exchange.signature, exchange);
    answer(exchange, 200, { code: 0, message: 'ok', data: { id: idOf(exchange), signature } });
  };

/** Sends this without the end that the headers announce, and then leaves the connection open or breaks it. */
export const unfinished =
  (
    bodyOf: (exchange: Exchange) => string | Uint8Array,
    headers: Readonly<Record<string, string | number>> = { 'content-type': 'application/json' },
    { status = 200, isLeftOpen = false } = {},
  ): Misbehaviour =>
  (exchange) => {
    exchange.response.writeHead(status, headers);
    exchange.response.write(bodyOf(exchange), () => {
      if (!isLeftOpen) exchange.response.destroy();
    });
  };

export const LEFT_OPEN = { isLeftOpen: true };
