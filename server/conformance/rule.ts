/** Types of rules and verdicts. */

import type { DigestAlgorithm } from '../../src/crypto/algorithms.ts';
import type { Deployment, Exchange } from './deployment.ts';

export interface Rule {
  /** Section of the API document, such as "2.3", "4.1 rule 1" or "7 check 2". */
  readonly section: string;
  /** Unique title that states what the service must do. */
  readonly title: string;
  /**
   * Number of requests that a deployment may sign, either correctly or because it corrects a wrong value (for example, it
   * removes white space). Requests that no deployment can accept are not included.
   */
  readonly spends: number;
  /** Algorithms whose shared signatures the rule uses. Each is requested once for all rules. */
  readonly shares?: readonly DigestAlgorithm[];
  /** Option without which the rule cannot be checked. */
  readonly needs?: Need;
  ask(deployment: Deployment): Promise<Verdict>;
}

/** The signing certificate, a way to read the count, or the credentials of a second client. */
export type Need = 'certificate' | 'count' | 'other-client';

export type Verdict =
  | { readonly kind: 'kept' }
  /** The document allows several ways, and `choice` describes the way of this deployment. */
  | { readonly kind: 'choice'; readonly choice: string }
  | { readonly kind: 'broken'; readonly why: string; readonly exchanges: readonly Exchange[] }
  | { readonly kind: 'not-asked'; readonly why: string };

/** A rule for which no deployment can make a signature. */
export function unsigned(section: string, title: string, ask: Rule['ask']): Rule {
  return { section, title, spends: 0, ask };
}

/** A rule about the one signature of an algorithm that several rules use. */
export function shared(section: string, title: string, ask: Rule['ask'], algorithm: DigestAlgorithm = 'SHA256'): Rule {
  return { section, title, spends: 0, shares: [algorithm], ask };
}

export function spending(section: string, title: string, spends: number, ask: Rule['ask']): Rule {
  return { section, title, spends, ask };
}

export const KEPT: Verdict = { kind: 'kept' };

export function chosen(choice: string): Verdict {
  return { kind: 'choice', choice };
}

/** @param answers the exchanges that show the fault */
export function broken(why: string, ...answers: readonly { readonly exchange: Exchange }[]): Verdict {
  return { kind: 'broken', why, exchanges: answers.map(({ exchange }) => exchange) };
}

/** Checks the items in order, and stops at the first broken one. */
export async function each<T>(items: Iterable<T>, ask: (item: T) => Promise<Verdict>): Promise<Verdict> {
  for (const item of items) {
    const verdict = await ask(item);
    if (verdict.kind !== 'kept') return verdict;
  }
  return KEPT;
}
