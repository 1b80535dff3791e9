export interface Change {
  readonly kind: 'signature' | 'form' | 'comment' | 'content';
  /** For people: `page 3 0`, `the catalog`. */
  readonly what: string;
  /** Full name of the field that it is about. */
  readonly field?: string;
  /** Whether it may cover what was signed: then it is reported also where it is allowed. */
  readonly covers?: boolean;
}

export const content = (what: string): Change => ({ kind: 'content', what });
