/** The only type of error that this program throws on purpose. The category of an error determines the exit code. */

export type ErrorCategory = 'usage' | 'network' | 'http' | 'business' | 'local' | 'timestamp' | 'internal';

export interface CodesignErrorOptions {
  readonly code: string;
  readonly category: ErrorCategory;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly httpStatus?: number | undefined;
  /** Business `code` in the service's envelope (Remote Code Signing API, section 2.1), if there is one. */
  readonly serviceCode?: number | undefined;
  /** Record id of a signature that the service made and counted although the call failed. */
  readonly record?: string | undefined;
  /** True if the service may have made and counted a signature. undefined if `code` and `status` determine this. */
  readonly mayHaveBeenCounted?: boolean | undefined;
  /** True if the file may be intact although this program cannot verify it. */
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

/** Turns an unexpected thrown value into an error with the code `internal`. The value becomes its cause. */
export function toCodesignError(thrown: unknown): CodesignError {
  if (thrown instanceof CodesignError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new CodesignError({
    code: 'internal',
    category: 'internal',
    message: `unexpected error: ${message}`,
    hint: 'Run the command again with --verbose and report the output: this is a bug in codesign-remote.',
    cause: thrown,
  });
}

/** Returns a caught CodesignError, and rethrows any other value. */
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

/** Returns undefined if `read` throws a CodesignError. Functions that read files do so for malformed data. */
export function orUndefined<T>(read: () => T): T | undefined {
  const result = attempt(read);
  return result instanceof CodesignError ? undefined : result;
}
