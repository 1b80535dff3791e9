import type { CodesignError } from '../../errors/codesign-error.ts';
import type { UnfinishedCall } from '../../journal/journal.ts';

/** `left`: the call was not attempted. `failed`: the call was attempted, but is still unfinished. */
export type ResumeStatus = 'finished' | 'forgotten' | 'left' | 'failed';

export interface ResumedCall {
  readonly call: UnfinishedCall;
  readonly status: ResumeStatus;
  /** Reason why the call is not finished; undefined if a process is working on it, or if the user must decide. */
  readonly error: CodesignError | undefined;
}

/** The form of a call in JSON documents and in the library. Scripts read its members, so they must not change. */
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
      output: signingOptions.output,
      written,
      reason: why ?? null,
    })),
    reason: reason ?? null,
    ...(error === undefined ? {} : { error }),
  };
}
