/** Judges the outcome of one attempt at an authority: a usable token, or why not and whether to try again. */

import type { AnswerHead, Failure, Outcome } from '../http/exchange.ts';
import { type AskedFor, checkAnswer } from './check-answer.ts';

export type Judged = { readonly token: Uint8Array; readonly time: Date } | Unusable;

export interface Unusable {
  /** Why, for people. Raw: may hold control characters. */
  readonly refusal: string;
  /** Whether the same may go well a moment later. */
  readonly isPassing: boolean;
  /** Whether it will probably be so for other files too: the authority is then asked last. */
  readonly isDown: boolean;
}

const HTML = /^\s*(<!doctype html|<html)/i;
const LOOKED_AT = 200;

export function judgeOutcome(outcome: Outcome, asked: AskedFor): Judged {
  const { kind } = outcome;
  const head = kind === 'answer' ? outcome : outcome.head;
  if (head !== undefined && !isSuccess(head)) return judgeStatus(head);
  if (kind === 'failure') return judgeFailure(outcome);
  const checked = checkAnswer(outcome.body, asked);
  if ('token' in checked) return checked;
  const isPage = HTML.test(Buffer.from(outcome.body.subarray(0, LOOKED_AT)).toString('latin1'));
  return final(isPage ? 'a web page instead of a timestamp' : checked.refusal);
}

function isSuccess({ status }: AnswerHead): boolean {
  return status >= 200 && status < 300;
}

function judgeStatus({ status, headers }: AnswerHead): Unusable {
  const isPassing = status === 429 || status >= 500;
  const location = headers.get('location');
  const redirect = status >= 300 && status < 400 && location !== undefined ? `, a redirect to ${location}` : '';
  return { refusal: `HTTP ${status}${redirect}`, isPassing, isDown: isPassing };
}

function judgeFailure({ reason, detail }: Failure): Unusable {
  switch (reason) {
    case 'too-large':
      return final(`no timestamp: ${detail}`);
    case 'timed-out':
    case 'connect-timed-out':
      // The wait has been long already.
      return { refusal: detail, isPassing: false, isDown: true };
    case 'tls-untrusted':
    case 'tls-failed':
      return { refusal: `no TLS connection (${detail})`, isPassing: false, isDown: true };
    case 'proxy-unauthorized':
      return { refusal: `the proxy asks for other credentials (${detail})`, isPassing: false, isDown: true };
    case 'broken':
      return { refusal: `the connection broke (${detail})`, isPassing: true, isDown: true };
    default:
      return { refusal: `it cannot be reached (${detail})`, isPassing: true, isDown: true };
  }
}

function final(refusal: string): Unusable {
  return { refusal, isPassing: false, isDown: false };
}
