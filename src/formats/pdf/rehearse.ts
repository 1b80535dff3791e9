/** Before a signature is requested, checks the document as it will be when signed, so that no signature is wasted. */

import type { ByteSource } from '../../bytes/byte-source.ts';
import { CodesignError, expectedError } from '../../errors/codesign-error.ts';
import { isObjection } from '../../errors/finding.ts';
import { pdfSigningErrors } from './errors.ts';
import { examineRevision } from './examine/revisions.ts';
import { examineStorage } from './examine/signature.ts';
import { type OpenedPdf, openWith } from './opened.ts';

export async function rehearse({ stored, reader }: OpenedPdf, result: ByteSource): Promise<void> {
  const broken = (reason: string) => pdfSigningErrors('pdf-result-broken', { reason });
  const opened = await openWith(result, reader).catch(expectedError);
  if (opened instanceof CodesignError) throw broken(opened.message);
  const own = opened.stored.at(-1);
  if (own === undefined || opened.stored.length !== stored.length + 1) {
    throw broken('its signatures would not be found');
  }
  // At this point there is no timestamp token yet. The token will be verified when the authority returns it.
  const timestamp: OpenedPdf['timestamp'] = async (each) => {
    const found = await opened.timestamp(each);
    return each === own ? { ...found, findings: [] } : found;
  };
  for (const each of opened.stored) {
    const storage = examineStorage(each);
    const findings = storage.length > 0 ? storage : await examineRevision({ ...opened, timestamp }, each);
    const problem = findings.find((finding) => (each === own ? isObjection(finding) : finding.weight === 'broken'));
    if (problem !== undefined) throw broken(`"${each.field.name}": ${problem.message}`);
  }
}
