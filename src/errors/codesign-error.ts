/** The one error type this program throws on purpose: a stable code, a category that decides the exit code, and a hint. */

export type ErrorCategory = 'usage' | 'network' | 'http' | 'business' | 'local' | 'timestamp' | 'internal';

export interface CodesignErrorOptions {
  readonly code: string;
  readonly category: ErrorCategory;
  readonly message: string;
  /** What the user can do about it, as a sentence. */
  readonly hint?: string | undefined;
  /** The HTTP status of the answer that caused the error, when there was one. */
  readonly httpStatus?: number | undefined;
  /** The business `code` of the service's envelope (Remote Code Signing API, section 2.1), when there was one. */
  readonly serviceCode?: number | undefined;
  /** The service's id of a signature that it gave, and counted, although the call failed. */
  readonly record?: string | undefined;
  /** Whether the service may have made and counted a signature; undefined where code and status say it. */
  readonly mayHaveBeenCounted?: boolean | undefined;
  /** True if the file may be sound and this program cannot verify it. */
  readonly isUnsupported?: boolean | undefined;
  readonly cause?: unknown;
}

export class CodesignError extends Error {
  override readonly name = 'CodesignError';
  /** Stable kebab-case word that scripts may match. */
  readonly code: string;
  readonly category: ErrorCategory;
  readonly hint: string | undefined;
  readonly httpStatus: number | undefined;
  readonly serviceCode: number | undefined;
  readonly record: string | undefined;
  readonly mayHaveBeenCounted: boolean | undefined;
  readonly isUnsupported: boolean;

  constructor(options: CodesignErrorOptions) {
    super(options.message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = options.code;
    this.category = options.category;
    this.hint = options.hint;
    this.httpStatus = options.httpStatus;
    this.serviceCode = options.serviceCode;
    this.record = options.record;
    this.mayHaveBeenCounted = options.mayHaveBeenCounted;
    this.isUnsupported = options.isUnsupported ?? false;
  }
}

/** Any thrown value as a CodesignError: an unexpected one becomes `internal`, with the original as its cause. */
export function toCodesignError(thrown: unknown): CodesignError {
  if (thrown instanceof CodesignError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new CodesignError({
    code: 'internal',
    category: 'internal',
    message: `unexpected error: ${message}`,
    hint: 'Run again with --verbose and report the output: this is a defect of codesign-remote.',
    cause: thrown,
  });
}

/** For what is thrown where only a CodesignError is expected: gives that, and throws anything else again. */
export function expectedError(thrown: unknown): CodesignError {
  if (thrown instanceof CodesignError) return thrown;
  throw thrown;
}

/** What `work` gives, or the CodesignError that it throws. */
export function attempt<T>(work: () => T): T | CodesignError {
  try {
    return work();
  } catch (thrown) {
    return expectedError(thrown);
  }
}

/** What `read` returns; undefined if it throws a CodesignError, as readers do for malformed data. */
export function orUndefined<T>(read: () => T): T | undefined {
  const result = attempt(read);
  return result instanceof CodesignError ? undefined : result;
}
