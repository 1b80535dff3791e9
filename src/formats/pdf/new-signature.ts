/** Writes the update for a signature or a document timestamp, with zeros in /Contents until the value is known. */

import { patchedSource } from '../../bytes/patched-source.ts';
import type { Patch } from '../../bytes/pieces.ts';
import type { PdfDocument } from '../../pdf-syntax/document.ts';
import { pdfErrors } from '../../pdf-syntax/errors.ts';
import { type Field, firstPage, readCatalog } from '../../pdf-syntax/structure.ts';
import { type ChangedObject, writeUpdate } from '../../pdf-syntax/update.ts';
import { isOf, type PdfDictionary, type PdfReference } from '../../pdf-syntax/values.ts';
import { arrayWith, dictionaryWith, reference, textString } from '../../pdf-syntax/write.ts';
import { pdfSigningErrors } from './errors.ts';

export interface NewSignature {
  /** Encoded entries of the signature dictionary, except those that are the same in all signatures. */
  readonly entries: readonly (readonly [key: string, value: string])[];
  readonly field: Field | string;
  readonly firstNumber: number;
  readonly space: number;
  /** True if the catalog refers to this signature as the certification of the document (12.8.6). */
  readonly certifies: boolean;
}

const NUMBER_WIDTH = 10;
/** Largest document whose offsets have at most ten digits, including an update with the largest signature. */
export const LARGEST_WITH_TEN_DIGITS = 9_900_000_000;

export async function prepareUpdate(document: PdfDocument, wanted: NewSignature) {
  const { source } = document;
  const signature = { number: wanted.firstNumber, generation: 0 };
  const width = source.size <= LARGEST_WITH_TEN_DIGITS ? NUMBER_WIDTH : String(Number.MAX_SAFE_INTEGER).length;
  const byteRange = (numbers: readonly number[]): string =>
    `/ByteRange [0 ${numbers.map((number) => String(number).padEnd(width)).join(' ')}]`;
  const { start, end, body } = signatureDictionary(wanted, byteRange([0, 0, 0]));
  const objects = [{ ...signature, body }, ...(await fieldObjects(document, wanted, signature))];
  const { bytes, starts } = writeUpdate(document, objects);
  const at = (starts.get(signature.number) ?? 0) - source.size;
  const [contentsStart, contentsEnd] = [at + start, at + end];
  const numbers = [source.size + contentsStart, source.size + contentsEnd, bytes.length - contentsEnd];
  bytes.write(byteRange(numbers), at + OPENING.length, 'latin1');
  const [before, after] = [bytes.subarray(0, contentsStart), bytes.subarray(contentsEnd)];
  return {
    content: [{ start: 0, end: source.size }, before, after],
    result: patchedSource(source, [{ offset: source.size, remove: 0, insert: [bytes] }]),
    put(cms: Uint8Array): Patch {
      const insert = [before, hexContents(cms, wanted.space), after];
      return [{ offset: source.size, remove: 0, insert }];
    },
  };
}

export function hexContents(cms: Uint8Array, space: number): Buffer {
  if (cms.length > space) throw pdfSigningErrors('pdf-space-too-small', { length: cms.length, space });
  return Buffer.from(
    `<${Buffer.from(cms)
      .toString('hex')
      .toUpperCase()
      .padEnd(2 * space, '0')}>`,
    'latin1',
  );
}

const OPENING = '<< ';
/** `remove` recognises the updates of this program by this name in the signature dictionary. */
export const PROGRAM_NAME = 'codesign-remote';

function signatureDictionary({ entries, space }: NewSignature, byteRange: string) {
  const before = Buffer.from(`${OPENING}${byteRange} /Contents `, 'latin1');
  const contents = hexContents(new Uint8Array(), space);
  const others = entries.map(([key, value]) => ` /${key} ${value}`).join('');
  const after = ` /Filter /Adobe.PPKLite${others} /Prop_Build << /App << /Name /${PROGRAM_NAME} >> >> >>`;
  const body = Buffer.concat([before, contents, Buffer.from(after, 'latin1')]);
  return { body, start: before.length, end: before.length + contents.length };
}

async function fieldObjects(
  document: PdfDocument,
  { field, certifies }: NewSignature,
  signature: Omit<PdfReference, 'kind'>,
): Promise<readonly ChangedObject[]> {
  const objects: ChangedObject[] = [];
  const rewrite = ({ number, generation }: PdfReference, body: Buffer) => objects.push({ number, generation, body });
  /**
   * Appends an item to the array that `owner` contains under `key`. If the array is an indirect object, it is rewritten
   * as an indirect object.
   */
  async function appended(
    owner: PdfDictionary,
    key: string,
    item: string,
  ): Promise<Record<string, Uint8Array | string>> {
    const value = owner.entries.get(key);
    const raw = isOf(value, 'reference') ? (await arrayObject(document, value)).raw : owner.raw.get(key);
    if (value === undefined || value === null || raw === undefined) return { [key]: `[${item}]` };
    if (!isOf(value, 'reference')) return { [key]: arrayWith(raw, item) };
    rewrite(value, arrayWith(raw, item));
    return {};
  }

  const catalog = await readCatalog(document);
  const formValue = catalog.entries.get('AcroForm');
  const form = (await document.dictionary(formValue)) ?? EMPTY;
  let changes: Record<string, Uint8Array | string> = { SigFlags: '3' };
  if (typeof field === 'string') {
    const { reference: pageReference, page } = await firstPage(document);
    const own = { number: signature.number + 1, generation: 0 };
    const widget =
      `<< /Type /Annot /Subtype /Widget /FT /Sig /T ${textString(field)} /F 132 /Rect [0 0 0 0] ` +
      `/P ${reference(pageReference)} /V ${reference(signature)} >>`;
    objects.push({ ...own, body: Buffer.from(widget, 'latin1') });
    const pageChanges = await appended(page, 'Annots', reference(own));
    if (Object.keys(pageChanges).length > 0) rewrite(pageReference, dictionaryWith(page, pageChanges));
    changes = { ...changes, ...(await appended(form, 'Fields', reference(own))) };
  } else rewrite(field.reference, dictionaryWith(field.dictionary, { V: reference(signature) }));

  const isOwnObject = isOf(formValue, 'reference') && form !== EMPTY;
  // The form is an indirect object, because poppler 22.12 cannot find a form that is written directly in the catalog.
  const number = signature.number + (typeof field === 'string' ? 2 : 1);
  const formObject: PdfReference = isOwnObject ? formValue : { kind: 'reference', number, generation: 0 };
  rewrite(formObject, dictionaryWith(form, changes));
  const permissions = (await document.dictionary(catalog.entries.get('Perms'))) ?? EMPTY;
  const catalogChanges = {
    ...(isOwnObject ? {} : { AcroForm: reference(formObject) }),
    ...(certifies ? { Perms: dictionaryWith(permissions, { DocMDP: reference(signature) }) } : {}),
  };
  if (Object.keys(catalogChanges).length > 0) rewrite(document.root, dictionaryWith(catalog, catalogChanges));
  return objects;
}

const EMPTY: PdfDictionary = { kind: 'dictionary', entries: new Map(), raw: new Map() };

async function arrayObject(document: PdfDocument, { number }: PdfReference) {
  const found = await document.object(number);
  if (found !== undefined && isOf(found.value, 'array')) return found;
  throw pdfErrors('pdf-malformed', { offset: document.end, problem: `object ${number} is not an array` });
}
