import { codeOf } from '../errors.ts';

/** A connection error that PostgreSQL does not report, with the matching PostgreSQL error code. */
export class PostgresError extends Error {
  override readonly name = 'PostgresError';
  readonly code: string;

  constructor(code: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}

/** PostgreSQL's error codes have 5 characters, like the system's EPIPE. Only the system's codes begin with E. */
export function isOfDatabase(error: unknown): boolean {
  return /^(SQLITE_\w+|[0-9A-DF-Z][0-9A-Z]{4})$/.test(`${codeOf(error)}`);
}

/** The database rejected the values or has no space (PostgreSQL's error classes 22, 23 and 53). */
export function isRefusal(error: unknown): boolean {
  return /^(22|23|53|SQLITE_(CONSTRAINT|MISMATCH|TOOBIG|FULL))/.test(`${codeOf(error)}`);
}

/** Nothing was committed. PostgreSQL's error class 40 is "transaction rollback". */
export function isRolledBack(error: unknown): boolean {
  return isRefusal(error) || /^(40|SQLITE_BUSY)/.test(`${codeOf(error)}`);
}
