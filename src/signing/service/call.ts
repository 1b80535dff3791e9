import { type CodesignError, toCodesignError } from '../../errors/codesign-error.ts';
import type { Claim, SharedCall } from '../../journal/journal.ts';
import type { ReportStatus, SignatureRecord } from '../../service/signing-service.ts';
import { signingWarnings } from '../errors.ts';
import type { SigningJournal } from './account.ts';

export interface FileCall {
  readonly claim: SharedCall;
  /** undefined until the call has returned a usable signature. */
  record: SignatureRecord | undefined;
  readonly warnings: string[];
}

export interface EndedCall extends Pick<FileCall, 'claim'> {
  readonly record: string | undefined;
  /** The status to report now; undefined if another file or a later run will send the report. */
  readonly status: ReportStatus | undefined;
  readonly isReported: boolean;
  readonly isKept: boolean;
}

export async function recordWritten(
  calls: readonly FileCall[],
  sha256: string | undefined,
): Promise<readonly EndedCall[]> {
  // Another process has taken over a call that has no record here.
  const used = calls.flatMap(({ claim, record }) => (record ? [{ claim, record }] : []));
  return await Promise.all(
    used.map(async ({ claim, record }) => {
      const { reportDue, reported } = await claim.written(sha256);
      return { claim, record: record.id, status: reportDue, isReported: reported === 1, isKept: false };
    }),
  );
}

/** Records that the file has failed. If possible, the journal keeps its signatures for another run. */
export async function recordNotWritten(
  calls: readonly FileCall[],
  error: CodesignError,
): Promise<readonly EndedCall[]> {
  return await Promise.all(
    calls.map(async ({ claim, record }, index) => {
      const recorded = record && claim.notWritten(error.message, error.code === 'file-changed');
      const after = await recorded?.catch(() => undefined);
      // The file failed with its last call, so that call gets the record id of the error.
      const id = (index === calls.length - 1 ? error.record : undefined) ?? record?.id;
      const isKept = after !== undefined;
      return { claim, record: id, status: isKept ? after.reportDue : 2, isReported: false, isKept } as const;
    }),
  );
}

/** For a step that has already happened: if the journal cannot record it, the run continues with a warning. */
export function addWarningTo(warnings: string[]) {
  return (thrown: unknown): undefined => {
    warnings.push(signingWarnings('journal-not-written', { reason: toCodesignError(thrown).message }));
    return undefined;
  };
}

const nothing = async (): Promise<void> => undefined;

const CLAIM: Claim = {
  id: '',
  known: undefined,
  unknownCalls: [],
  isProven: false,
  requested: nothing,
  mayBeSent: () => undefined,
  deferred: nothing,
  signed: async () => 'signed',
  stamped: nothing,
  refused: nothing,
  unanswered: nothing,
  unusable: nothing,
  written: async () => ({ reportDue: 1, reported: undefined }),
  notWritten: async () => {
    throw new Error('no journal keeps the signature');
  },
  reported: nothing,
  release: nothing,
};

/** Replaces the journal if it is disabled: every file needs a new signature. */
export const withoutJournal: SigningJournal = {
  known: async () => undefined,
  claim: async () => CLAIM,
  knownFor: async () => [],
  repeatable: async () => [],
};
