/** The only error that this program throws on purpose. Its category determines the exit code. */

export type ErrorCategory = 'usage' | 'network' | 'http' | 'business' | 'local' | 'timestamp' | 'internal';

export interface CodesignErrorOptions {
  readonly code: string;
  readonly category: ErrorCategory;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly httpStatus?: number | undefined;
  /** The business code that the service returned (Remote Code Signing API, section 2.1). */
  readonly serviceCode?: number | undefined;
  /** Record of a signature that the service counted although the call failed. */
  readonly record?: string | undefined;
  /** The service may have counted a signature; undefined if `code` and `status` determine this. */
  readonly mayHaveBeenCounted?: boolean | undefined;
  /** The file may be intact, but this program cannot verify it. */
  readonly isUnsupported?: boolean | undefined;
  readonly cause?: unknown;
}

export class CodesignError extends Error {
  override readonly name = 'CodesignError';
  /** A kebab-case word that scripts can rely on. */
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

/** An unexpected value becomes the cause of an error with the code `internal`. */
export function toCodesignError(thrown: unknown): CodesignError {
  if (thrown instanceof CodesignError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new CodesignError({
    code: 'internal',
    category: 'internal',
    message: `unexpected error: ${message}`,
    hint: 'Run the command again with --verbose and report the output. This is a bug in codesign-remote.',
    cause: thrown,
  });
}

/** Rethrows any other value. */
export function expectedError(thrown: unknown): CodesignError {
  if (thrown instanceof CodesignError) return thrown;
  throw thrown;
}

export function attempt<T>(work: () => T): T | CodesignError {
  try {
    return work();
  } catch (thrown) {
    return expectedError(thrown);
  }
}

/** Returns undefined if `read` throws a CodesignError, for example for malformed data. */
export function orUndefined<T>(read: () => T): T | undefined {
  const result = attempt(read);
  return result instanceof CodesignError ? undefined : result;
}
