/** Checks answers: what counts as a signature and as a rejection, and how an answer is described. */

import type { Answer } from './deployment.ts';
import { isObject } from './envelope.ts';
import { broken, chosen, KEPT, type Verdict } from './rule.ts';

/** "HTTP 400, code 400". */
export function describeAnswer(answer: Answer): string {
  if (answer.signature !== undefined) return 'signed';
  const code = answer.code === undefined ? 'no envelope' : `code ${answer.code}`;
  return `HTTP ${answer.status}, ${code}`;
}

/** Held where a signature must come (4.1 rule 1). */
export function isSigned(answer: Answer): Verdict {
  if (answer.signature !== undefined) return KEPT;
  if (answer.ok && answer.code === 0) return broken('a success without a non-empty data.signature', answer);
  return broken(`${describeAnswer(answer)} in the place of a signature`, answer);
}

/** Held where the document names the business code. */
export function isRefusedWith(code: number, answer: Answer): Verdict {
  const refused = isRefused(answer);
  if (refused.kind === 'broken' || answer.code === code) return refused;
  return broken(`${describeAnswer(answer)}, where the document has code ${code}`, answer);
}

/** Held where something must be refused, and how is not shown. */
export function isRefused(answer: Answer): Verdict {
  if (answer.signature !== undefined) return broken('a signature was given', answer);
  if (answer.ok && answer.code === 0) return broken('it was answered with a success', answer);
  if (isObject(answer.data) && answer.data.signature) return broken('a signature stands in the refusal', answer);
  return KEPT;
}

/** Refused, in a way that is the deployment's to choose. */
export function isRefusedSomehow(answer: Answer): Verdict {
  const refused = isRefused(answer);
  return refused.kind === 'kept' ? chosen(describeAnswer(answer)) : refused;
}

/** The success of report-sign (4.2). */
export function isReported(answer: Answer): Verdict {
  if (answer.ok && answer.code === 0) return KEPT;
  return broken(`${describeAnswer(answer)} in the place of a success`, answer);
}

/** Where the document says nothing: signed or refused, but answered. */
export function isSignedOrRefused(answer: Answer): Verdict {
  if (answer.ok && answer.code === 0 && answer.signature === undefined) return isSigned(answer);
  return chosen(describeAnswer(answer));
}
