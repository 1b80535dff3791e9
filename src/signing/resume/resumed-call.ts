import type { CodesignError } from '../../errors/codesign-error.ts';
import type { UnfinishedCall } from '../../journal/journal.ts';

/** `left`: not tried. `failed`: tried, and still unfinished. */
export type ResumeStatus = 'finished' | 'forgotten' | 'left' | 'failed';

export interface ResumedCall {
  /** As it was found. */
  readonly call: UnfinishedCall;
  readonly status: ResumeStatus;
  /** Why it is not finished; undefined if a process works on it, and if only the user can settle it. */
  readonly error: CodesignError | undefined;
}

/** For documents and callers of the library. Its members are fixed: scripts read them. */
export function describeResumed({ call, status, error }: ResumedCall) {
  const { id, kind, at, work, metadata, record, reason } = call;
  return {
    id,
    kind,
    status,
    at,
    origin: work.origin,
    code: work.code,
    algorithm: work.algorithm,
    certificate: metadata.certificate,
    record: record ?? null,
    files: call.files.map(({ file, written, signingOptions, reason: why }) => ({
      path: file,
      output: signingOptions?.output ?? null,
      written,
      reason: why ?? null,
    })),
    reason: reason ?? null,
    ...(error === undefined ? {} : { error }),
  };
}
