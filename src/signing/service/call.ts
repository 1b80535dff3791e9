import { type CodesignError, toCodesignError } from '../../errors/codesign-error.ts';
import type { AfterFile, Claim, Journal } from '../../journal/journal.ts';
import { mayHaveBeenCounted } from '../../service/errors.ts';
import type { ReportStatus, SignatureRecord } from '../../service/signing-service.ts';
import { signingErrors, signingWarnings } from '../errors.ts';
import { lookAgain, type Versions } from '../files/unchanged.ts';

/** A call whose signature is for a file, or for a file in it. */
export interface FileCall {
  readonly claim: Claim;
  /** Undefined as long as the call has brought no usable signature. */
  record: SignatureRecord | undefined;
  /** Grows. */
  readonly warnings: string[];
}

/** A call whose file is written, or has failed. */
export interface EndedCall extends Pick<FileCall, 'claim'> {
  /** The service's record id; undefined if it gave none. */
  readonly record: string | undefined;
  /** Status to report now; undefined if another file or a later run reports. */
  readonly status: ReportStatus | undefined;
  /** Whether the service knows that the signature is in use. */
  readonly isReported: boolean;
  /** Whether the journal keeps the signature for another run. */
  readonly isKept: boolean;
}

/** Throws `just-unanswered`. Returns warnings of earlier calls whose outcome is unknown. */
export function checkEarlierCalls(claim: Claim): readonly string[] {
  if (claim.justUnanswered) throw signingErrors('just-unanswered');
  return claim.unknownCalls.map((id) => signingWarnings('call-unknown', { id }));
}

/** What the service awaits around each attempt of a request. */
export interface RecordedAttempts {
  /** Looks at the file, since a signature of a changed one is wasted, and records the attempt. What throws is not sent. */
  beforeSend(): Promise<void>;
  beforeRetry(): Promise<void>;
  /** Whether the last attempt was neither recorded nor sent. */
  isUnrecorded(): boolean;
}

export function recordAttempts(claim: Claim, file: Versions, warnings: string[]): RecordedAttempts {
  let isUnrecorded = false;
  return {
    async beforeSend() {
      isUnrecorded = true;
      await lookAgain(file);
      await claim.requested();
      isUnrecorded = false;
    },
    beforeRetry: () => recordOrWarn(claim.deferred(), warnings),
    isUnrecorded: () => isUnrecorded,
  };
}

/** Records what the request brings. If the journal cannot keep an answer, that is a warning. */
export async function recordAnswer(
  sending: Promise<SignatureRecord>,
  attempts: RecordedAttempts,
  claim: Claim,
  warnings: string[],
): Promise<SignatureRecord> {
  let record: SignatureRecord;
  try {
    record = await sending;
  } catch (thrown) {
    // Nothing was sent, so other processes need not wait.
    if (attempts.isUnrecorded()) await releaseQuietly(claim);
    else await recordFailure(claim, toCodesignError(thrown), warnings);
    throw thrown;
  }
  await recordOrWarn(claim.signed({ signature: record.signature, record: record.id }), warnings);
  return record;
}

/** Never throws: that would hide why the claim is given up. One that cannot be released ends with its process. */
export async function releaseQuietly(claim: Claim): Promise<void> {
  await recordOrWarn(claim.release());
}

async function recordFailure(claim: Claim, error: CodesignError, warnings: string[]): Promise<void> {
  const { message } = error;
  await recordOrWarn(mayHaveBeenCounted(error) ? claim.unanswered(message) : claim.refused(message), warnings);
}

/** Records that the signatures are in the file at `target`. */
export async function recordWritten(
  calls: readonly FileCall[],
  { target, sha256 }: { readonly target: string; readonly sha256: string },
): Promise<{ readonly calls: readonly EndedCall[]; readonly warnings: readonly string[] }> {
  const warnings: string[] = [];
  const ended: EndedCall[] = [];
  for (const { claim, record } of calls) {
    // If the journal cannot record this, report anyway: a duplicate report is harmless, a missing one is not.
    const after = (await claim.written(target, sha256).catch(warnInto(warnings))) ?? REPORT_IS_DUE;
    const status = after.reportDue ? 1 : undefined;
    ended.push({ claim, record: record?.id, status, isReported: after.reported === 1, isKept: false });
  }
  return { calls: ended, warnings };
}

/** Records that the file failed. The journal keeps its signatures for another run; those that it cannot keep are given up. */
export async function recordNotWritten(
  calls: readonly FileCall[],
  error: CodesignError,
): Promise<readonly EndedCall[]> {
  return await Promise.all(
    calls.map(async ({ claim, record }, index) => {
      const isKeepable = record !== undefined && claim.id !== '';
      const recorded = isKeepable ? claim.notWritten(error.message, error.code === 'file-changed') : undefined;
      const after = await recorded?.catch(() => undefined);
      // The error is that of the last call.
      const id = (index === calls.length - 1 ? error.record : undefined) ?? record?.id;
      const isKept = after !== undefined;
      const whenKept = after?.reportDue ? 1 : undefined;
      return { claim, record: id, status: isKept ? whenKept : 2, isReported: false, isKept } as const;
    }),
  );
}

/** For what is done already: a journal that cannot record it changes nothing about it. */
export async function recordOrWarn(recording: Promise<void>, warnings?: string[]): Promise<void> {
  await recording.catch(warnInto(warnings));
}

function warnInto(warnings: string[] | undefined): (thrown: unknown) => undefined {
  return (thrown) => {
    warnings?.push(signingWarnings('journal-not-written', { reason: toCodesignError(thrown).message }));
    return undefined;
  };
}

/** The part of the journal that signing uses. */
export type Claims = Pick<Journal, 'claim' | 'knownFor' | 'isProven' | 'mismatches' | 'repeatable'>;

const nothing = async (): Promise<void> => undefined;

export const REPORT_IS_DUE: AfterFile = { reportDue: true, reported: undefined };

const CLAIM: Claim = {
  id: '',
  known: undefined,
  unknownCalls: [],
  justUnanswered: false,
  requested: nothing,
  deferred: nothing,
  signed: nothing,
  stamped: nothing,
  refused: nothing,
  unanswered: nothing,
  unusable: nothing,
  written: async () => REPORT_IS_DUE,
  notWritten: async () => ({ reportDue: false, reported: undefined }),
  reported: nothing,
  release: nothing,
};

/** Replaces the journal if the user wants none: nothing is kept or reused, every file requests a signature of its own. */
export const withoutJournal: Claims = {
  claim: async () => CLAIM,
  knownFor: async () => [],
  isProven: async () => false,
  mismatches: async () => [],
  repeatable: async () => [],
};
