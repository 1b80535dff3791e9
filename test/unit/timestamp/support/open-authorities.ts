/** Timestamp authorities as the program asks them, with waits that are recorded instead of slept. */

import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import type { CodesignError } from '../../../../src/errors/codesign-error.ts';
import type { Http } from '../../../../src/http/http.ts';
import type { Outcome } from '../../../../src/http/request.ts';
import {
  createTimestampAuthorities,
  type TimestampAuthorities,
  type TimestampAuthoritiesOptions,
} from '../../../../src/timestamp/authorities.ts';
import { openHttp } from '../../http/support/http-setting.ts';

export type OpenOptions = Partial<TimestampAuthoritiesOptions> & {
  readonly realClock?: boolean;
};

/** `waits`: milliseconds of each wait between attempts. */
export function openAuthorities(urls: readonly string[], options: OpenOptions = {}) {
  const { realClock = false, ...given } = options;
  const waits: number[] = [];
  const clock = {
    random: () => 0,
    sleep: async (milliseconds: number, signal?: AbortSignal) => {
      signal?.throwIfAborted();
      waits.push(milliseconds);
    },
  };
  const authorities = createTimestampAuthorities({
    urls: urls.map((url) => new URL(url)),
    algorithm: 'SHA256',
    timeoutMilliseconds: 10_000,
    now: () => new Date(),
    randomBytes: (length) => randomBytes(length),
    ...(realClock ? {} : { clock }),
    http: given.http ?? openHttp(),
    ...given,
  });
  return { ...authorities, waits };
}

export const SIGNATURE = Buffer.from('signature');

export const failureOf = (authorities: TimestampAuthorities, signal?: AbortSignal): Promise<CodesignError> =>
  authorities.stamp(SIGNATURE, signal).then(
    () => expect.fail('a timestamp was returned'),
    (thrown) => thrown,
  );

export function cannedHttp(answer: (url: URL, body: Uint8Array) => Outcome | Promise<Outcome>): Http {
  const never = () => Promise.reject(new Error('not expected here'));
  return {
    post: async ({ url, body }) => answer(url, body),
    get: never,
    postJson: never,
    prepare: () => undefined,
    resolve: () => undefined,
    close: async () => undefined,
  };
}

export function answer(status: number, body: string | Uint8Array = '', headers: Record<string, string> = {}): Outcome {
  return { kind: 'answer', status, headers: new Map(Object.entries(headers)), body: Buffer.from(body) };
}
