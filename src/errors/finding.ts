/** What an examination finds wrong, or odd, with a file, a signature or a certificate: data, where an error would end the examination. */

export interface Finding {
  /** Stable kebab-case word that scripts may match. */
  readonly code: string;
  /** A whole sentence. Raw: names from outside may hold control characters; escape them where they are shown. */
  readonly message: string;
  /** What it speaks against: a broken signature and one that is not trusted are two things. A warning speaks against nothing. */
  readonly against: 'integrity' | 'trust' | 'nothing';
}

/** Whether one of them speaks against what is asked about. */
export function speaksAgainst(findings: readonly Finding[], what: 'integrity' | 'trust'): boolean {
  return findings.some(({ against }) => against === what);
}

/** Speaks against integrity. */
export const broken = (code: string, message: string): Finding => ({ code, message, against: 'integrity' });

/** A warning. */
export const odd = (code: string, message: string): Finding => ({ code, message, against: 'nothing' });
