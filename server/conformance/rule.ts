/** What a rule of the document is to the suite: data, with one question to a deployment and what came of it. Types, and the verdicts. */

import type { DigestAlgorithm } from '../../src/crypto/algorithms.ts';
import type { Deployment, Exchange } from './deployment.ts';

export interface Rule {
  /** Of the API document, as one would cite it: "2.3", "4.1 rule 1", "7 check 2". */
  readonly section: string;
  /** What is held, in words that no other rule has. */
  readonly title: string;
  /**
   * How many of its requests could be answered with a signature: by right, or by a service that makes good what is wrong
   * (takes a missing padding for the only one, drops white space). A request that no deployment could accept spends none.
   */
  readonly spends: number;
  /** Signatures that it looks at and that are asked for once for all rules: one for each algorithm. */
  readonly shares?: readonly DigestAlgorithm[];
  /** What must be given for it to be asked. */
  readonly needs?: Need;
  ask(deployment: Deployment): Promise<Verdict>;
}

/** The signing certificate, a way to read the count, or the credentials of a second client. */
export type Need = 'certificate' | 'count' | 'other-client';

export type Verdict =
  | { readonly kind: 'kept' }
  /** Kept, and the document leaves open how: `choice` says how this deployment does it. */
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

/** @param answers what was sent and answered, for people to look at */
export function broken(why: string, ...answers: readonly { readonly exchange: Exchange }[]): Verdict {
  return { kind: 'broken', why, exchanges: answers.map(({ exchange }) => exchange) };
}

/** Asks one question after the other, up to the first that is broken. */
export async function each<T>(items: Iterable<T>, ask: (item: T) => Promise<Verdict>): Promise<Verdict> {
  for (const item of items) {
    const verdict = await ask(item);
    if (verdict.kind !== 'kept') return verdict;
  }
  return KEPT;
}
