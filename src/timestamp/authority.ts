/** One time stamp authority: a bounded number of requests at once, each repeated where that may help. */

import { createHash } from 'node:crypto';
import { type DigestAlgorithm, NODE_DIGEST_NAME } from '../crypto/algorithms.ts';
import { printable } from '../errors/printable.ts';
import type { Outcome } from '../http/exchange.ts';
import type { Http } from '../http/http.ts';
import { readRetryAfter } from '../http/retry-after.ts';
import { type Waiting, waitAfter } from '../http/waiting.ts';
import type { AuthorityRoots } from './check-answer.ts';
import { type Judged, judgeOutcome } from './classify-outcome.ts';
import { createPlaces } from './places.ts';
import { buildTimestampRequest, NONCE_LENGTH, nonceOf } from './request.ts';

export interface AuthorityOptions {
  readonly url: URL;
  readonly algorithm: DigestAlgorithm;
  readonly policy: string | undefined;
  readonly roots?: AuthorityRoots | undefined;
  readonly http: Http;
  /** For one attempt. */
  readonly timeoutMilliseconds: number;
  /** Requests at once. */
  readonly concurrency: number;
  readonly now: () => Date;
  readonly randomBytes: (length: number) => Uint8Array;
  readonly waiting: Waiting;
}

export interface Asking {
  readonly signal: AbortSignal | undefined;
  /** Asked once there is a place: whether this authority is still the one to ask. */
  readonly isStillWanted: () => boolean;
}

export interface Authority {
  /** Its address, for people: without user information and query, which may hold secrets. */
  readonly name: string;
  /** Whether it last failed in a way that the next file would suffer from too. */
  isDown(): boolean;
  /** Undefined when it was no longer wanted. Rejects when the signal aborts while it waits. */
  ask(signatureValue: Uint8Array, asking: Asking): Promise<Answered | undefined>;
}

export type Answered =
  | { readonly token: Uint8Array; readonly time: Date }
  /** For people, printable. */
  | { readonly reason: string };

export const MAX_ATTEMPTS = 4;
/** Of one file's waits at one authority. */
export const LONGEST_WAIT_IN_SUM = 90_000;
/** Tokens with all their certificates have some kilobytes. */
const ANSWER_LIMIT = 256 * 1024;

export function createAuthority(options: AuthorityOptions): Authority {
  const { url, http, timeoutMilliseconds, now, waiting } = options;
  const places = createPlaces(options.concurrency);
  let isDown = false;

  const attempt = async (signatureValue: Uint8Array): Promise<{ outcome: Outcome; judged: Judged }> => {
    const { algorithm, policy, roots } = options;
    const nonce = nonceOf(options.randomBytes(NONCE_LENGTH));
    const digest = createHash(NODE_DIGEST_NAME[algorithm]).update(signatureValue).digest();
    const outcome = await http.post({
      url,
      contentType: 'application/timestamp-query',
      accept: 'application/timestamp-reply',
      body: buildTimestampRequest({ algorithm, digest, policy, nonce }),
      deadlineMilliseconds: timeoutMilliseconds,
      sizeLimit: ANSWER_LIMIT,
    });
    return { outcome, judged: judgeOutcome(outcome, { signatureValue, algorithm, policy, nonce, now: now(), roots }) };
  };

  const repeat = async (signatureValue: Uint8Array, signal: AbortSignal | undefined): Promise<Answered> => {
    let waited = 0;
    for (let attempts = 1; ; attempts += 1) {
      const { outcome, judged } = await attempt(signatureValue);
      isDown = 'isDown' in judged && judged.isDown;
      if ('token' in judged) return judged;
      const retryAfter = readRetryAfter(headerOf(outcome, 'retry-after'), now().getTime());
      const wait = waitAfter({ attempts, retryAfter, random: waiting.random() });
      waited += wait;
      if (!judged.isPassing || attempts === MAX_ATTEMPTS || waited > LONGEST_WAIT_IN_SUM) {
        return { reason: printable(judged.refusal) + (attempts > 1 ? ` after ${attempts} attempts` : '') };
      }
      await waiting.sleep(wait, signal);
    }
  };

  return {
    name: printable(`${url.origin}${url.pathname}`),
    isDown: () => isDown,
    async ask(signatureValue, { signal, isStillWanted }) {
      const giveBack = await places.take(signal);
      try {
        if (!isStillWanted()) return undefined;
        // The place is kept during the waits: an authority that is throttling is not to be asked by others meanwhile.
        return await repeat(signatureValue, signal);
      } finally {
        giveBack();
      }
    },
  };
}

function headerOf(outcome: Outcome, name: string): string | undefined {
  return (outcome.kind === 'answer' ? outcome : outcome.head)?.headers.get(name);
}
