import type { AnswerHead, Failure, Outcome } from '../http/request.ts';
import { type Attempt, readRetryAfter } from '../http/retry.ts';
import { withoutDenseRuns } from '../secrets/foreign-text.ts';
import { type CheckedToken, checkAnswer, type ExpectedAnswer } from './check-answer.ts';

export type Classified = Attempt<CheckedToken, Refused>;

export interface Refused {
  /** Not escaped: may contain control characters. */
  readonly reason: string;
  /** Other files will probably fail too, so this authority is tried last. */
  readonly isDown: boolean;
}

export const MAX_ATTEMPTS = 4;

const HTML = /^\s*(<!doctype html|<html)/i;
const LOOKED_AT = 200;

export function classifyOutcome(outcome: Outcome, asked: ExpectedAnswer): Classified {
  const { kind } = outcome;
  const head = kind === 'answer' ? outcome : outcome.head;
  const retryAfter = readRetryAfter(head?.headers.get('retry-after'), asked.now.getTime());
  if (head !== undefined && !(head.status >= 200 && head.status < 300)) return classifyStatus(head, retryAfter);
  if (kind === 'failure') return classifyFailure(outcome, retryAfter);
  const checked = checkAnswer(outcome.body, asked);
  if ('token' in checked) return { kind: 'done', result: checked };
  const isPage = HTML.test(Buffer.from(outcome.body.subarray(0, LOOKED_AT)).toString('latin1'));
  return final(isPage ? 'a web page instead of a timestamp' : checked.refusal);
}

function classifyStatus({ status, headers }: AnswerHead, retryAfter: number | undefined): Classified {
  const location = headers.get('location');
  const redirect =
    status >= 300 && status < 400 && location !== undefined ? `, a redirect to ${withoutDenseRuns(location)}` : '';
  const reason = `HTTP ${status}${redirect}`;
  return status === 429 || status >= 500 ? transient(reason, retryAfter) : final(reason);
}

function classifyFailure({ reason, ...failure }: Failure, retryAfter: number | undefined): Classified {
  // TLS errors quote names from the authority's certificate.
  const detail = withoutDenseRuns(failure.detail);
  switch (reason) {
    case 'too-large':
      return final(`no timestamp: ${detail}`);
    case 'timed-out':
    case 'connect-timed-out':
      // Final, because the attempt has already waited for a long time.
      return final(detail, true);
    case 'tls-untrusted':
    case 'tls-failed':
      return final(`no TLS connection (${detail})`, true);
    case 'proxy-unauthorized':
      return final(`the proxy requires other credentials (${detail})`, true);
    case 'broken':
      // A second timestamp is harmless, so it does not matter whether the request arrived.
      return transient(`the connection broke (${detail})`, retryAfter);
    default:
      return transient(`it cannot be reached (${detail})`, retryAfter);
  }
}

function transient(reason: string, retryAfter: number | undefined): Classified {
  return { kind: 'transient', failure: { reason, isDown: true }, maxAttempts: MAX_ATTEMPTS, retryAfter };
}

function final(reason: string, isDown = false): Classified {
  return { kind: 'final', failure: { reason, isDown } };
}
