/** Verifies without requirements and without trust. */

import { formats } from '../../../../src/formats/registry.ts';
import type { VerifyPolicy } from '../../../../src/verifying/verdict.ts';
import type { Verifying } from '../../../../src/verifying/verify-file.ts';
import { digestEntries } from '../../../../src/zip/entry-digests.ts';

export const NO_POLICY: VerifyPolicy = { requireTimestamp: false, signer: undefined, leastAlgorithm: undefined };
export const INTEGRITY_ONLY: Verifying = {
  ...{ formats, digestEntries, examineTrust: undefined, policy: NO_POLICY },
  now: new Date('2026-12-31'),
};
