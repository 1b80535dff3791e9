import { TIMESTAMP_TOKEN } from '../../asn1/object-identifiers.ts';
import { type StoredCms, splitCms } from '../../authenticode/stored-cms.ts';
import type { ByteRange } from '../../bytes/pieces.ts';
import { signingCertificate } from '../../cms/build-signed-data.ts';
import { parseSignedData, type SignedData } from '../../cms/parse-signed-data.ts';
import { attempt, type CodesignError } from '../../errors/codesign-error.ts';
import type { SignatureProfile } from '../../format/cms.ts';
import type { PdfDocument } from '../../pdf-syntax/document.ts';
import { pdfErrors } from '../../pdf-syntax/errors.ts';
import { type Field, readFields, readForm } from '../../pdf-syntax/structure.ts';
import { isInteger, isOf, nameOf, type PdfDictionary, type PdfString, textOf } from '../../pdf-syntax/values.ts';

/** PAdES levels B-B and B-T (ETSI EN 319 142-1, 6.3). The signing time is in /M of the signature dictionary. */
export const PDF_PROFILE: SignatureProfile = {
  signedAttributes: ({ chain }) => [signingCertificate(chain.leaf.der)],
  carriesRoot: false,
  timestampTypes: [TIMESTAMP_TOKEN],
  verifier: 'PDF',
};

export type SubFilter = 'ETSI.CAdES.detached' | 'adbe.pkcs7.detached' | 'ETSI.RFC3161';
const KNOWN: readonly string[] = ['ETSI.CAdES.detached', 'adbe.pkcs7.detached', 'ETSI.RFC3161'] satisfies SubFilter[];

export interface StoredSignature extends StoredCms {
  readonly field: Field;
  readonly dictionary: PdfDictionary;
  readonly subFilter: SubFilter | undefined;
  /** /Contents with its brackets. undefined if it is missing or is in an object stream. */
  readonly contents: PdfString | undefined;
  /** undefined if /ByteRange does not consist of a range from 0 to /Contents and a range after /Contents. */
  readonly ranges: readonly [ByteRange, ByteRange] | undefined;
  /** DocMDP level: 1 permits no changes, 2 permits forms and signatures, 3 permits comments too. */
  readonly permission: number | undefined;
  /** Form fields that the signature locks: `All`, or `Include` or `Exclude` with field names. */
  readonly lock: { readonly action: string; readonly names: readonly string[] } | undefined;
}

const MAX_SIGNATURES = 200;

export interface SignatureFields {
  /** Signatures in the order in which they were added. A signature that covers more bytes comes later. */
  readonly stored: readonly StoredSignature[];
  readonly empty: readonly string[];
  readonly fields: readonly Field[];
}

export async function readSignatureFields(document: PdfDocument): Promise<SignatureFields> {
  const form = await readForm(document);
  const fields = form === undefined ? [] : await readFields(document, form);
  const found: StoredSignature[] = [];
  const empty: string[] = [];
  const seen = new Set<number>();
  for (const field of fields) {
    if (field.type !== 'Sig') continue;
    const dictionary = await document.dictionary(field.value);
    if (dictionary === undefined) {
      empty.push(field.name);
      continue;
    }
    if (isOf(field.value, 'reference')) {
      if (seen.has(field.value.number)) continue;
      seen.add(field.value.number);
    }
    if (found.length === MAX_SIGNATURES)
      throw pdfErrors('pdf-too-large', { limit: MAX_SIGNATURES, what: 'signatures' });
    found.push(await storedIn(document, field, dictionary));
  }
  return { stored: found.toSorted((a, b) => endOf(a) - endOf(b)), empty, fields };
}

export function isDocumentTimestamp({ subFilter }: Pick<StoredSignature, 'subFilter'>): boolean {
  return subFilter === 'ETSI.RFC3161';
}

export function signedDataOf({ cms, subFilter }: StoredSignature): SignedData | CodesignError {
  return attempt(() => parseSignedData(subFilter === undefined ? new Uint8Array() : (cms ?? new Uint8Array())));
}

/** Signatures whose covered ranges are unknown are sorted last. */
export function endOf({ ranges }: Pick<StoredSignature, 'ranges'>): number {
  return ranges?.[1].end ?? Number.MAX_SAFE_INTEGER;
}

async function storedIn(document: PdfDocument, field: Field, dictionary: PdfDictionary): Promise<StoredSignature> {
  const { entries } = dictionary;
  const value = entries.get('Contents');
  const contents = isOf(value, 'string') && value.isHex && value.start >= 0 ? value : undefined;
  const subFilter = nameOf(entries.get('SubFilter')) ?? '';
  return {
    ...splitCms(contents?.bytes ?? new Uint8Array()),
    field,
    dictionary,
    subFilter: KNOWN.includes(subFilter) ? (subFilter as SubFilter) : undefined,
    contents,
    ranges: rangesOf(dictionary, contents, document.source.size),
    ...(await restrictionsOf(document, dictionary, field)),
  };
}

function rangesOf(
  { entries }: PdfDictionary,
  contents: PdfString | undefined,
  size: number,
): readonly [ByteRange, ByteRange] | undefined {
  const value = entries.get('ByteRange');
  const numbers = isOf(value, 'array') ? value.items.filter(isInteger) : [];
  const [first, firstLength = 0, second = 0, secondLength = 0] = numbers;
  const isWhole = isOf(value, 'array') && value.items.length === 4 && numbers.length === 4 && first === 0;
  const isRoundContents = contents !== undefined && firstLength === contents.start && second === contents.end;
  if (!isWhole || !isRoundContents || second + secondLength > size) return undefined;
  return [
    { start: 0, end: firstLength },
    { start: second, end: second + secondLength },
  ];
}

/** Reads DocMDP and FieldMDP in /Reference (12.8.2). /Lock in the signature field repeats these values (12.7.5.5). */
async function restrictionsOf(
  document: PdfDocument,
  { entries }: PdfDictionary,
  { dictionary: field }: Field,
): Promise<Pick<StoredSignature, 'permission' | 'lock'>> {
  const references = await document.resolve(entries.get('Reference'));
  const lockOfField = await document.dictionary(field.entries.get('Lock'));
  let permission = lockOfField?.entries.has('P') ? await levelOf(document, lockOfField) : undefined;
  let lock = lockOfField && (await lockOf(document, lockOfField));
  for (const item of isOf(references, 'array') ? references.items.slice(0, MAX_REFERENCES) : []) {
    const reference = await document.dictionary(item);
    const method = nameOf(await document.resolve(reference?.entries.get('TransformMethod')));
    const parameters = await document.dictionary(reference?.entries.get('TransformParams'));
    if (method === 'DocMDP') permission = Math.min(permission ?? 3, await levelOf(document, parameters));
    if (method === 'FieldMDP') lock = await lockOf(document, parameters);
  }
  return { permission, lock };
}

async function levelOf(document: PdfDocument, parameters: PdfDictionary | undefined): Promise<number> {
  const level = await document.resolve(parameters?.entries.get('P'));
  return isInteger(level) && level >= 1 && level <= 3 ? level : 2;
}

async function lockOf(document: PdfDocument, parameters: PdfDictionary | undefined) {
  const names = await document.resolve(parameters?.entries.get('Fields'));
  return {
    action: nameOf(await document.resolve(parameters?.entries.get('Action'))) ?? 'All',
    names: isOf(names, 'array') ? names.items.flatMap((each) => textOf(each) ?? []) : [],
  };
}

const MAX_REFERENCES = 16;

export function locks({ lock }: Pick<StoredSignature, 'lock'>, name: string): boolean {
  if (lock === undefined || lock.action === 'All') return lock !== undefined;
  const isNamed = lock.names.some((each) => name === each || name.startsWith(`${each}.`));
  return lock.action === 'Include' ? isNamed : !isNamed;
}
