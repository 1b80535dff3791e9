/** Everything that reads foreign bytes, by the names that the command and the reports use. */

import type { TargetDefinition } from './target.ts';
import { asn1Target } from './targets/asn1.ts';
import { certificateTarget, revocationTarget } from './targets/certificates.ts';
import { containersTarget } from './targets/containers.ts';
import { updatesTarget } from './targets/documents.ts';
import { FILE_TARGETS } from './targets/files.ts';
import { journalTarget } from './targets/journal.ts';
import { FAULTY_TARGETS } from './targets/planted.ts';
import { serviceTarget } from './targets/service.ts';
import { settingsTarget } from './targets/settings.ts';
import { cmsTarget, manifestTarget, timestampTarget } from './targets/signatures.ts';
import { archiveVerdictTarget, programVerdictTarget } from './targets/verdicts.ts';

export const TARGETS: Readonly<Record<string, TargetDefinition>> = {
  ...FILE_TARGETS,
  'pdf-updates': updatesTarget,
  containers: containersTarget,
  'verify-pe': programVerdictTarget,
  'verify-jar': archiveVerdictTarget,
  manifest: manifestTarget,
  asn1: asn1Target,
  cms: cmsTarget,
  timestamp: timestampTarget,
  certificate: certificateTarget,
  revocation: revocationTarget,
  service: serviceTarget,
  journal: journalTarget,
  settings: settingsTarget,
};

/** Throws for a name that is none. Those with a planted fault are found, too; only the test of the harness requests them. */
export function targetNamed(name: string): TargetDefinition {
  const found = TARGETS[name] ?? FAULTY_TARGETS[name];
  if (found === undefined)
    throw new RangeError(`no target is called ${name}; there are ${Object.keys(TARGETS).join(', ')}`);
  return found;
}
