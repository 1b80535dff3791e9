/** Decides whether the verdict about a file is acceptable under the policy. */

import type { ContainedVerdict } from '../containers/walk.ts';
import { flatten, isGoodVerdict, type VerifiedFile } from '../verifying/verdict.ts';
import type { Classification, Result } from './classified-file.ts';
import { type SignatureRequirements, type Unmet, unmetBy } from './signer-requirements.ts';

export interface Requirements extends SignatureRequirements {
  readonly require: 'duty' | 'signed' | 'intact' | 'nothing';
  readonly until: string | undefined;
  readonly covered: readonly ('own' | 'catalog' | 'package')[];
  readonly notOpened: 'warn' | 'fail';
}

/**
 * Windows rejects unsigned files of these kinds, or warns about them. For files of all other kinds, a signature is
 * optional.
 */
const MUST_BE_SIGNED: ReadonlySet<string> = new Set(['pe', 'msi', 'appx']);

/** Kinds of files whose signatures this program cannot read. */
const NOT_SIGNABLE: ReadonlySet<string> = new Set(['elf', 'mach-o']);

/** `today` is the date as `YYYY-MM-DD`, because exceptions can end on a given date. */
export function classify(file: ContainedVerdict, required: Requirements, today: string): Classification {
  const { require, until } = required;
  if (until !== undefined && until < today) return failed('exception-expired');
  if (require === 'nothing') return accepted('exempt');
  const { kind, verified, notOpened } = file;
  if (notOpened !== undefined) {
    // A container of an unsupported kind is visible to anyone, but a damaged container could hide a file.
    const isFailure = notOpened.code !== 'container-unsupported' || required.notOpened === 'fail';
    return { result: 'not-opened', cause: notOpened.code, isFailure, covered: undefined };
  }
  if (verified?.error !== undefined) return failed(verified.error.code);
  const cover = coverOf(file, required);
  if (verified !== undefined && verified.verdict !== 'unsigned') return classifySigned(verified, required, cover);
  if (cover !== undefined) return { ...accepted('good'), covered: cover };
  if (require === 'intact') return accepted('exempt');
  if (require === 'signed' && isContent(file)) return failed('unsigned');
  if (MUST_BE_SIGNED.has(kind)) return failed('unsigned');
  if (NOT_SIGNABLE.has(kind)) return accepted('not-signable');
  return accepted(kind === 'apk' ? 'not-checked' : 'not-required');
}

function classifySigned(
  { verdict, signatures }: VerifiedFile,
  required: Requirements,
  cover: Classification['covered'],
): Classification {
  if (!isGoodVerdict(verdict)) return failed(verdict ?? 'failed');
  if (!required.covered.includes('own')) {
    return cover === undefined ? failed('not-covered') : { ...accepted('good'), covered: cover };
  }
  const unmet = flatten(signatures).map((signature) => unmetBy(signature, required));
  if (unmet.includes(undefined)) return { ...accepted('good'), covered: 'own' };
  return failed(ORDER.find((reason) => unmet.includes(reason)) ?? 'unsigned');
}

/** If no signature meets all requirements, the best signature is the one whose failure comes last in this list. */
const ORDER: readonly Unmet[] = ['algorithm-too-weak', 'timestamp-required', 'signer-differs'];

function coverOf({ kind, coveredBy }: ContainedVerdict, { covered }: Requirements) {
  return MUST_BE_SIGNED.has(kind) && coveredBy !== undefined && covered.includes(coveredBy) ? coveredBy : undefined;
}

/** A rule for all files in a container does not apply to the container itself, unless such containers can be signed. */
function isContent({ kind, verified }: ContainedVerdict): boolean {
  return verified === undefined || !['zip', 'tar', 'asar'].includes(kind);
}

function failed(cause: string): Classification {
  return { result: 'failed', cause, isFailure: true, covered: undefined };
}

function accepted(result: Result): Classification {
  return { result, cause: undefined, isFailure: false, covered: undefined };
}
