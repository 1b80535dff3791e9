/** Files of a run of `verify`, as policies see them. */

import type { FileOfRun } from '../../../src/policy/classified-file.ts';
import type { VerifiedFile, VerifiedSignature } from '../../../src/verifying/verdict.ts';

export const signature: VerifiedSignature = {
  place: 'certificate table',
  integrity: 'intact',
  trust: 'trusted',
  signer: { name: 'Us', sha256: 'a'.repeat(64), path: [], root: undefined },
  algorithm: 'SHA256',
  time: undefined,
  timestamps: [],
  findings: [],
  nested: [],
};

export type Given = Partial<FileOfRun> & {
  readonly verdict?: VerifiedFile['verdict'];
  readonly signatures?: readonly VerifiedSignature[];
};

export function file(name: string, { verdict, signatures, ...given }: Given = {}): FileOfRun {
  const verified = verdict && {
    path: name,
    format: given.kind ?? 'pe',
    verdict,
    error: undefined,
    findings: [],
    signatures: signatures ?? (verdict === 'unsigned' ? [] : [signature]),
  };
  return {
    path: ['dist', name],
    pathInFolder: 'dist',
    kind: 'pe',
    verified: verified || undefined,
    notOpened: undefined,
    coveredBy: undefined,
    sameAs: undefined,
    ...given,
  };
}
