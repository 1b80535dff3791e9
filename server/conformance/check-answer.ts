/** Checks whether a response contains a signature or a rejection, and describes it. */

import type { Answer } from './deployment.ts';
import { isObject } from './envelope.ts';
import { broken, chosen, KEPT, type Verdict } from './rule.ts';

/** "HTTP 400, code 400". */
export function describeAnswer(answer: Answer): string {
  if (answer.signature !== undefined) return 'signed';
  const code = answer.code === undefined ? 'no envelope' : `code ${answer.code}`;
  return `HTTP ${answer.status}, ${code}`;
}

/** Kept if the response contains a signature (4.1 rule 1). */
export function isSigned(answer: Answer): Verdict {
  if (answer.signature !== undefined) return KEPT;
  if (answer.ok && answer.code === 0)
    return broken('the response reports success without a non-empty data.signature', answer);
  return broken(`${describeAnswer(answer)} instead of a signature`, answer);
}

/** Kept if the service rejects the request with this code. */
export function isRefusedWith(code: number, answer: Answer): Verdict {
  const refused = isRefused(answer);
  if (refused.kind === 'broken' || answer.code === code) return refused;
  return broken(`${describeAnswer(answer)} instead of code ${code}`, answer);
}

/** Kept if the service rejects the request with any code. */
export function isRefused(answer: Answer): Verdict {
  if (answer.signature !== undefined) return broken('the service returned a signature', answer);
  if (answer.ok && answer.code === 0) return broken('the response reports success', answer);
  if (isObject(answer.data) && answer.data.signature) return broken('the rejection contains a signature', answer);
  return KEPT;
}

/** Returns the way in which the service rejects the request as its choice. */
export function isRefusedSomehow(answer: Answer): Verdict {
  const refused = isRefused(answer);
  return refused.kind === 'kept' ? chosen(describeAnswer(answer)) : refused;
}

/** Kept if the service accepts the report (4.2). */
export function isReported(answer: Answer): Verdict {
  if (answer.ok && answer.code === 0) return KEPT;
  return broken(`${describeAnswer(answer)} instead of success`, answer);
}

/** Returns whether the service signs or rejects the request as its choice. */
export function isSignedOrRefused(answer: Answer): Verdict {
  if (answer.ok && answer.code === 0 && answer.signature === undefined) return isSigned(answer);
  return chosen(describeAnswer(answer));
}
