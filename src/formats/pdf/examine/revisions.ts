/** Whether the document that is shown is the one that was signed: the signed revision, and the updates behind it. */

import { BUDGET_SPENT } from '../../../crypto/work-budget.ts';
import { CodesignError, expectedError } from '../../../errors/codesign-error.ts';
import { counted } from '../../../errors/counted.ts';
import { broken, type Finding, warning } from '../../../errors/finding.ts';
import { extentOf } from '../../../pdf-syntax/cross-reference.ts';
import { openDocument, type PdfDocument } from '../../../pdf-syntax/document.ts';
import { truncated } from '../new-signature.ts';
import type { OpenedPdf } from '../opened.ts';
import { locks, readSignatureFields, type StoredSignature } from '../stored.ts';
import type { Change } from './change.ts';
import { changesAfter } from './changes.ts';

/** Never throws for what the file holds. */
export async function examineRevision(
  { document, takeComparison }: Pick<OpenedPdf, 'document' | 'takeComparison'>,
  stored: StoredSignature,
): Promise<readonly Finding[]> {
  if (!takeComparison()) {
    return [
      broken(BUDGET_SPENT, 'What was changed after the signature was not checked: the document needs too many checks.'),
    ];
  }
  const findings = await compareRevision(document, stored).catch(expectedError);
  if (!(findings instanceof CodesignError)) return findings;
  return [broken(findings.code, `The signed revision cannot be compared with the document: ${findings.message}.`)];
}

async function compareRevision(document: PdfDocument, stored: StoredSignature): Promise<readonly Finding[]> {
  const { ranges, contents } = stored;
  if (ranges === undefined || contents === undefined) return [];
  const { end } = ranges[1];
  const signed = await openDocument(truncated(document.source, end)).catch(expectedError);
  if (signed instanceof CodesignError) {
    return [broken('pdf-revision-unreadable', `What the signature covers is not a whole document: ${signed.message}.`)];
  }
  const later = document.sections.length - signed.sections.length;
  const isBuiltOn =
    later >= 0 && signed.sections.every(({ offset }, index) => offset === document.sections[later + index]?.offset);
  if (!isBuiltOn) {
    return [broken('pdf-revision-replaced', 'The document that is shown does not build on the one that was signed.')];
  }
  for (const section of signed.sections) {
    if ((await extentOf(section)).highest >= end) {
      return [broken('pdf-revision-open', 'Objects of the signed document are behind what the signature covers.')];
    }
  }
  const { stored: own } = await readSignatureFields(signed);
  const isInRevision = own.some((each) => each.contents?.start === contents.start);
  if (!isInRevision) {
    return [broken('pdf-signature-misplaced', 'The signature is not part of the revision that it covers.')];
  }
  if (later === 0) return examineRest(document, end);
  return [
    ...classify(await changesAfter(signed, document, later), stored),
    ...(await examineRest(document, document.end)),
  ];
}

/** Bytes that no update brought. */
async function examineRest({ source }: PdfDocument, from: number): Promise<readonly Finding[]> {
  let hidden = 0;
  for await (const chunk of source.stream(from, source.size)) {
    for (const byte of chunk) if (!SPACES.has(byte)) hidden += 1;
  }
  if (hidden === 0) return [];
  return [
    broken('hidden-bytes', `The file hides ${counted(hidden, 'byte')} behind the document, which no signature covers.`),
  ];
}

const SPACES: ReadonlySet<number> = new Set(Buffer.from('\0\t\n\f\r '));

/** What each DocMDP level allows (12.8.2.2); without one, readers accept forms and comments, and show that they changed. */
const ALLOWED: Readonly<Record<number, readonly Change['kind'][]>> = {
  1: [],
  2: ['signature', 'form'],
  3: ['signature', 'form', 'comment'],
};

function classify(changes: readonly Change[], stored: StoredSignature): readonly Finding[] {
  const { permission } = stored;
  const locked = changes.find(({ field }) => field !== undefined && locks(stored, field));
  const isForbidden = ({ kind }: Change) =>
    kind === 'content' || (permission !== undefined && !ALLOWED[permission]?.includes(kind));
  const forbidden = changes.filter(isForbidden);
  if (locked !== undefined || forbidden.length > 0) {
    const what = locked === undefined ? wordsOf(forbidden) : `the locked field "${locked.field}"`;
    return [broken('pdf-changed-after-signing', `The document was changed after this signature: ${what}.`)];
  }
  const shown = changes.filter(({ kind, covers }) => covers || (kind !== 'signature' && permission === undefined));
  if (shown.length === 0) return [];
  return [
    warning('pdf-changed-later', `The document was changed after this signature, as it allows: ${wordsOf(shown)}.`),
  ];
}

const MOST_NAMED = 3;

function wordsOf(changes: readonly Change[]): string {
  const distinct = [...new Set(changes.map(({ what }) => what))];
  const more = distinct.length > MOST_NAMED ? ` and ${distinct.length - MOST_NAMED} more` : '';
  return distinct.slice(0, MOST_NAMED).join(', ') + more;
}
