import { type CodesignError, toCodesignError } from '../../errors/codesign-error.ts';
import type { AfterFile, Claim, Journal } from '../../journal/journal.ts';
import { mayHaveBeenCounted } from '../../service/errors.ts';
import type { SignatureRecord, SignRequest } from '../../service/signing-service.ts';
import { signingErrors } from '../errors.ts';

/** What the service awaits around each attempt. */
export type AroundAttempts = {
  readonly [Hook in 'beforeSend' | 'beforeRetry']: NonNullable<SignRequest[Hook]>;
};

/**
 * Requests a signature, and records it in the journal directly before each attempt is sent and after the answer. If the
 * journal cannot keep an answer, that is a warning. Throws what `request` throws, and what keeps the journal from
 * recording the request.
 */
export async function requestOnRecord(
  claim: Claim,
  request: (around: AroundAttempts) => Promise<SignatureRecord>,
  warnings: string[],
): Promise<SignatureRecord> {
  if (claim.justUnanswered) {
    await letGo(claim);
    throw signingErrors('just-unanswered');
  }
  for (const id of claim.unknownCalls) {
    warnings.push(`An earlier call for this signature may have been counted: its outcome is unknown (journal ${id}).`);
  }
  let isUnsent = false;
  const around: AroundAttempts = {
    async beforeSend() {
      isUnsent = true;
      await claim.requested();
      isUnsent = false;
    },
    beforeRetry: () => noted(() => claim.deferred(), warnings),
  };
  let record: SignatureRecord;
  try {
    record = await request(around);
  } catch (thrown) {
    // If the journal cannot record the request, it is not sent. Other processes need not wait for it.
    if (isUnsent) await letGo(claim);
    else await noteFailure(claim, toCodesignError(thrown), warnings);
    throw thrown;
  }
  await noted(() => claim.signed({ signature: record.signature, record: record.id }), warnings);
  return record;
}

/** Never throws: that would hide why the claim is given up. One that cannot be released ends with its process. */
export async function letGo(claim: Claim): Promise<void> {
  await noted(() => claim.release());
}

async function noteFailure(claim: Claim, error: CodesignError, warnings: string[]): Promise<void> {
  const { message } = error;
  await noted(() => (mayHaveBeenCounted(error) ? claim.unanswered(message) : claim.refused(message)), warnings);
}

/** For what is done already: a journal that cannot record it changes nothing about it. */
export async function noted(step: () => Promise<void>, warnings?: string[]): Promise<void> {
  try {
    await step();
  } catch (thrown) {
    warnings?.push(`The journal could not be written: ${toCodesignError(thrown).message}.`);
  }
}

/** The part of the journal that signing uses. */
export type Claims = Pick<Journal, 'claim' | 'knownFor' | 'isProven' | 'repeatable'>;

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
  repeatable: async () => [],
};
