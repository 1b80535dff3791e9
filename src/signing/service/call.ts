/** What becomes of the calls of a file when it is written, or has failed. */

import { type CodesignError, toCodesignError } from '../../errors/codesign-error.ts';
import type { Claim, SharedCall } from '../../journal/journal.ts';
import type { ReportStatus, SignatureRecord } from '../../service/signing-service.ts';
import { signingWarnings } from '../errors.ts';
import type { SigningJournal } from './account.ts';

/** A call whose signature is for a file, or for a file in it. */
export interface FileCall {
  readonly claim: SharedCall;
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

/** Records that the signatures are in the file at `target`. */
export async function recordWritten(
  calls: readonly FileCall[],
  { target, sha256 }: { readonly target: string; readonly sha256: string },
): Promise<readonly EndedCall[]> {
  return await Promise.all(
    calls.map(async ({ claim, record }) => {
      const { reportDue, reported } = await claim.written(target, sha256);
      return { claim, record: record?.id, status: reportDue, isReported: reported === 1, isKept: false };
    }),
  );
}

/** Records that the file failed. The journal keeps its signatures for another run; those that it cannot keep are given up. */
export async function recordNotWritten(
  calls: readonly FileCall[],
  error: CodesignError,
): Promise<readonly EndedCall[]> {
  return await Promise.all(
    calls.map(async ({ claim, record }, index) => {
      const recorded = record && claim.notWritten(error.message, error.code === 'file-changed');
      const after = await recorded?.catch(() => undefined);
      // The error is that of the last call.
      const id = (index === calls.length - 1 ? error.record : undefined) ?? record?.id;
      const isKept = after !== undefined;
      return { claim, record: id, status: isKept ? after.reportDue : 2, isReported: false, isKept } as const;
    }),
  );
}

/** For what is done already: a journal that cannot record it changes nothing about it. */
export async function orWarn<T>(recording: Promise<T>, warnings: string[]): Promise<T | undefined> {
  return await recording.catch((thrown) => {
    warnings.push(signingWarnings('journal-not-written', { reason: toCodesignError(thrown).message }));
    return undefined;
  });
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

/** Replaces the journal if the user wants none: nothing is kept or reused, every file requests a signature of its own. */
export const withoutJournal: SigningJournal = {
  known: async () => undefined,
  claim: async () => CLAIM,
  knownFor: async () => [],
  repeatable: async () => [],
};
