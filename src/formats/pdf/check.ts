import { forEachObject, type PdfDocument } from '../../pdf-syntax/document.ts';
import { pdfErrors } from '../../pdf-syntax/errors.ts';
import { MAX_NUMBER } from '../../pdf-syntax/section.ts';
import { type Field, readForm } from '../../pdf-syntax/structure.ts';
import { forEachReference } from '../../pdf-syntax/values.ts';
import { pdfSigningErrors } from './errors.ts';
import { LARGEST_WITH_TEN_DIGITS } from './new-signature.ts';
import { locks, type StoredSignature } from './stored.ts';

/**
 * Checks that every object is at the offset that the cross-reference states, because readers repair a broken document
 * in different ways. Returns the lowest object number that is available for new objects. All existing objects and
 * references have lower object numbers.
 */
export async function checkReferences(document: PdfDocument): Promise<number> {
  const { nextNumber, source, sections } = document;
  if (sections[0].kind === 'table' && source.size > LARGEST_WITH_TEN_DIGITS) {
    throw pdfSigningErrors('pdf-offsets-too-large', { size: source.size });
  }
  let highest = nextNumber - 1;
  await forEachObject(document, ({ value }) =>
    forEachReference(value, ({ number }) => {
      highest = Math.max(highest, number);
    }),
  );
  if (highest + NEW_OBJECTS > MAX_NUMBER) throw pdfErrors('pdf-too-large', { limit: MAX_NUMBER, what: 'objects' });
  return highest + 1;
}

/** The new objects are a signature, its field, and a cross-reference stream. */
const NEW_OBJECTS = 3;

/** For a document timestamp, `fieldName` is undefined. */
export async function checkChangeable(
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

export async function emptyField(document: PdfDocument, fields: readonly Field[], name: string): Promise<Field> {
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

export function freeName(fields: readonly Field[], prefix: string): string {
  const taken = new Set(fields.map(({ name }) => name));
  for (let number = 1; ; number += 1) if (!taken.has(`${prefix}${number}`)) return `${prefix}${number}`;
}
