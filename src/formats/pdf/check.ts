/** What keeps a document from getting another signature: known before anything is digested. */

import { brokenReference } from '../../pdf-syntax/cross-reference.ts';
import type { PdfDocument } from '../../pdf-syntax/document.ts';
import { type Field, readFields, readForm } from '../../pdf-syntax/structure.ts';
import { isInteger } from '../../pdf-syntax/values.ts';
import { pdfSigningErrors } from './errors.ts';
import { locks, type StoredSignature } from './stored.ts';

/** Entries whose objects are looked for: more than most documents have, in a second at most. */
const MOST_CHECKED = 10_000;

/**
 * Throws `pdf-cross-reference-broken` unless objects are where the cross-reference says: readers repair such a document, each
 * in its own way.
 */
export async function requireSoundReferences(document: PdfDocument): Promise<void> {
  const { trailer, nextNumber } = document;
  const size = trailer.entries.get('Size');
  if (isInteger(size) && size < nextNumber)
    throw brokenReference(`its trailer counts ${size} objects, and there are more`);
  for (const section of document.sections) await section.extent();
  for (let number = 1; number < Math.min(nextNumber, MOST_CHECKED); number += 1) await document.object(number);
}

/** Throws `pdf-xfa`, `pdf-changes-forbidden`, `pdf-certify-not-first`. `fieldName`: undefined for a document timestamp. */
export async function requireChangeable(
  document: PdfDocument,
  stored: readonly StoredSignature[],
  fieldName: string | undefined,
): Promise<void> {
  const form = await readForm(document);
  if (form?.entries.has('XFA')) throw pdfSigningErrors('pdf-xfa');
  if (fieldName === undefined) return;
  for (const signature of stored) {
    const { name } = signature.field;
    if (signature.permission === 1) {
      throw pdfSigningErrors('pdf-changes-forbidden', {
        reason: `"${name}" certifies that nothing changes (DocMDP 1)`,
      });
    }
    if (locks(signature, fieldName)) {
      throw pdfSigningErrors('pdf-changes-forbidden', { reason: `"${name}" locks the field "${fieldName}"` });
    }
  }
}

const READ_ONLY = 1;

/** The empty signature field of this name. Throws `pdf-field-unusable`. */
export async function emptyField(document: PdfDocument, name: string): Promise<Field> {
  const form = await readForm(document);
  const fields = form === undefined ? [] : await readFields(document, form);
  const field = fields.find((each) => each.name === name);
  const unusable = (reason: string) => pdfSigningErrors('pdf-field-unusable', { field: name, reason });
  if (field === undefined) throw unusable('the document has no such field');
  const { entries } = field.dictionary;
  if (field.type !== 'Sig') throw unusable('it is not a signature field');
  if ((await document.resolve(field.value)) !== null) throw unusable('it is signed');
  if ((field.flags & READ_ONLY) !== 0) throw unusable('it is read-only');
  if (entries.has('Lock')) throw unusable('its signature must lock other fields, which is not supported');
  if (entries.has('SV')) throw unusable('it has requirements for its signature (seed values), which are not supported');
  return field;
}

/** `Signature1`, or the first number that no field has. */
export async function freeName(document: PdfDocument, prefix: string): Promise<string> {
  const form = await readForm(document);
  const taken = new Set((form === undefined ? [] : await readFields(document, form)).map(({ name }) => name));
  for (const section of document.sections) await section.extent();
  for (let number = 1; ; number += 1) if (!taken.has(`${prefix}${number}`)) return `${prefix}${number}`;
}
