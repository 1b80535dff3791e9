/** What can be done about an unfinished call, with the service, the credentials and the certificate that are given. */

import type { CodesignError } from '../../errors/codesign-error.ts';
import type { UnfinishedCall } from '../../journal/journal.ts';
import { signingErrors } from '../errors.ts';

/** Whose calls can be finished. */
export interface Given {
  /** Scheme, host and port of the service. */
  readonly origin: string;
  /** SHA-256 of the access key, in hex. */
  readonly client: string;
  /** SHA-256 of the certificate's DER, in hex; undefined as long as none was needed. */
  readonly leaf: string | undefined;
}

/** `wait`: a process works on it. `settle`: only the user can decide what becomes of it. */
export type NextAction = 'write' | 'report' | 'wait' | 'settle';

export interface PlannedCall {
  readonly call: UnfinishedCall;
  readonly next: NextAction;
  /** Why it cannot be finished with what is given. */
  readonly error: CodesignError | undefined;
}

const NEXT_ACTIONS = { unwritten: 'write', unreported: 'report', 'under-way': 'wait', unknown: 'settle' } as const;

export function planCall(call: UnfinishedCall, given: Given | undefined): PlannedCall {
  const next = isUnusable(call) ? 'settle' : NEXT_ACTIONS[call.kind];
  return { call, next, error: next === 'wait' || next === 'settle' ? undefined : obstacle(call, given) };
}

function obstacle({ work, metadata, kind }: UnfinishedCall, given: Given | undefined): CodesignError | undefined {
  if (given === undefined) return signingErrors('service-not-named', { origin: work.origin });
  if (work.origin !== given.origin) return signingErrors('other-service', { origin: work.origin });
  if (metadata.client !== given.client) return signingErrors('other-credentials');
  if (kind === 'unwritten' && given.leaf !== undefined && metadata.certificate.sha256 !== given.leaf) {
    return signingErrors('other-certificate', { certificate: metadata.certificate.name });
  }
  return undefined;
}

/** Who named the wrong certificate signs again with the right one, which uses the signature, or gives it up. */
export function isUnusable({ kind, files }: UnfinishedCall): boolean {
  return kind === 'unwritten' && files.every(({ written, unusable }) => written || unusable);
}
