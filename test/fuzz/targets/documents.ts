/**
 * Signed documents with later revisions, changed by chance: each signature gets an answer, and after one that is called
 * intact, a simple reader shows the same as before.
 */

import { memorySource } from '../../../src/bytes/byte-source.ts';
import { hasFindingAgainst } from '../../../src/errors/finding.ts';
import { examineRevision } from '../../../src/formats/pdf/examine/revisions.ts';
import { pdf } from '../../../src/formats/pdf/index.ts';
import { openWith } from '../../../src/formats/pdf/opened.ts';
import { forEachObject, openDocument, type PdfDocument } from '../../../src/pdf-syntax/document.ts';
import type { IndirectObject } from '../../../src/pdf-syntax/objects.ts';
import { findEndstream, streamLength } from '../../../src/pdf-syntax/stream-end.ts';
import { pagesOf, readForm } from '../../../src/pdf-syntax/structure.ts';
import { isOf, keyOf, nameOf, numberOf, type PdfDictionary, type PdfValue } from '../../../src/pdf-syntax/values.ts';
import { makeThrowawaySigner } from '../../support/signed-files/throwaway-signer.ts';
import { ALLOWED, ATTACKS } from '../../unit/formats/pdf/attacks.ts';
import { READER_ATTACKS } from '../../unit/formats/pdf/reader-attacks.ts';
import { REPAIR_ATTACKS } from '../../unit/formats/pdf/repair-attacks.ts';
import { GOOD_DOCUMENTS } from '../../unit/formats/pdf/samples.ts';
import { SPECIFICATION_ATTACKS } from '../../unit/formats/pdf/specification-attacks.ts';
import { plainReader, signBytes } from '../../unit/formats/support/sign-bytes.ts';
import { answering, require, requireSaid } from '../check-case.ts';
import { pick } from '../mutations/random.ts';
import { mutateDocument, type SignedDocument } from '../mutations/updates.ts';
import type { TargetDefinition } from '../target.ts';

/** Larger ones take too long for many cases. */
const LARGEST = 32 * 1024;
const MOST_OBJECTS = 100;

export const updatesTarget: TargetDefinition = {
  share: 8000,
  async open({ makesCases }) {
    const subjects = makesCases ? await makeSubjects() : [];
    return { make: (random) => mutateDocument(pick(random, subjects), random), run: examineAll };
  },
};

/** Each document that the tests change after it was signed, without and with that change. */
async function makeSubjects(): Promise<readonly SignedDocument[]> {
  const signer = await makeThrowawaySigner();
  const untouched = (signed: Buffer): Buffer => signed;
  const changes: readonly Pick<(typeof ATTACKS)[number], 'original' | 'certify' | 'attack'>[] = [
    ...[...ATTACKS, ...ALLOWED, ...READER_ATTACKS, ...REPAIR_ATTACKS, ...SPECIFICATION_ATTACKS],
    ...GOOD_DOCUMENTS.map(({ bytes }) => ({ original: bytes, attack: untouched })),
  ];
  const subjects: SignedDocument[] = [];
  for (const { original, certify, attack } of changes) {
    const { result } = await signBytes(pdf, original, signer, certify === undefined ? {} : { certify });
    const objects = await valuesOf(result);
    if (result.length > LARGEST || objects.size > MOST_OBJECTS) continue;
    for (const bytes of [result, attack(result)]) {
      const canBeUpdated =
        bytes.subarray(0, result.length).equals(result) &&
        /startxref\s+\d+\s+%%EOF\s*$/.test(bytes.toString('latin1', bytes.length - 64));
      if (canBeUpdated) subjects.push({ bytes, end: result.length, objects });
    }
    if (attack !== untouched) continue;
    const bytes = (await signBytes(pdf, result, signer)).result;
    subjects.push({ bytes, end: result.length, objects: await valuesOf(bytes) });
  }
  return subjects;
}

async function valuesOf(bytes: Buffer): Promise<ReadonlyMap<number, string>> {
  const values = new Map<number, string>();
  await forEachObject(await openDocument(memorySource(bytes)), ({ number, raw, streamStart }) => {
    const stream =
      streamStart &&
      `\nstream\n${bytes.toString('latin1', streamStart, bytes.indexOf('endstream', streamStart))}endstream`;
    values.set(number, Buffer.from(raw).toString('latin1') + (stream ?? ''));
  });
  return values;
}

async function examineAll(input: Uint8Array): Promise<string> {
  const answer = await answering(() => openWith(memorySource(input), plainReader()));
  if ('code' in answer) return answer.code;
  const words = new Set<string>();
  for (const stored of answer.value.stored) {
    if (stored.ranges === undefined) continue;
    const findings = await examineRevision(answer.value, stored);
    for (const { message, code } of findings) requireSaid(message, code);
    const { end } = stored.ranges[1];
    const isUpdated = end < input.length;
    words.add(findings.map(({ code, weight }) => `${code} ${weight}`).join() || (isUpdated ? 'intact' : 'covered'));
    if (!isUpdated || hasFindingAgainst(findings, 'integrity')) continue;
    const signed = await openDocument(memorySource(input.subarray(0, end)));
    const [before, after] = [await shownBy(signed, signed), await shownBy(answer.value.document, signed)];
    const at = differenceOf(before ?? '', after ?? '');
    require(at < 0, `called intact, and a reader shows something else: "${after?.slice(at - 50, at + 50)}"`);
  }
  return [...words].sort().join(', ') || 'no signature';
}

/** Index of the first difference; -1 if there is none. */
function differenceOf(before: string, after: string): number {
  const at = Array.from(before).findIndex((character, index) => character !== after[index]);
  return at < 0 && after.length > before.length ? before.length : at;
}

/** Entries of the catalog and the form that later signatures change. /Data leads to the catalog. */
const FREE_IN_CATALOG = ['AcroForm', 'DSS', 'Data', 'Extensions', 'Metadata', 'Perms', 'Version'];
const FREE_IN_FORM = ['DA', 'DR', 'Fields', 'SigFlags'];
const FREE_IN_EMPTY_FIELD = ['AP', 'AS', 'F', 'Kids', 'MK', 'P', 'Parent', 'V'];
/** Lists that grow, and what leads back up. */
const FREE_BELOW = ['Annots', 'Data', 'Obj', 'P', 'Parent'];
const MOST_VALUES = 5000;

/** Everything that the document holds as text, but of its lists of annotations and fields what `signed` has. */
async function shownBy(document: PdfDocument, signed: PdfDocument): Promise<string | undefined> {
  let left = MOST_VALUES;
  const reached: string[] = [];

  /** Which object it is, whatever its number: readers tell layers apart in this way, for example. */
  function nameFor(key: string): string {
    if (!reached.includes(key)) reached.push(key);
    return `#${reached.indexOf(key)} `;
  }

  async function textOf(value: PdfValue, above: readonly string[], free: readonly string[]): Promise<string> {
    left -= 1;
    if (left < 0) return '';
    if (isOf(value, 'reference')) {
      const object = await document.object(value.number);
      if (above.includes(keyOf(value))) return `^${above.length - above.indexOf(keyOf(value))}`;
      if (object === undefined) return 'null';
      const name = isOf(object.value, 'dictionary') ? nameFor(keyOf(value)) : '';
      const stale = object.generation === value.generation ? '' : 'stale ';
      return (
        name + stale + (await textOf(object.value, [...above, keyOf(value)], free)) + (await dataOf(document, object))
      );
    }
    if (isOf(value, 'array')) return `[${await inTurn(value.items, (each) => textOf(each, above, free))}]`;
    if (isOf(value, 'dictionary')) {
      const entries = [...value.entries].filter(([key]) => !free.includes(key)).sort(([a], [b]) => (a < b ? -1 : 1));
      const written = await inTurn(entries, async ([key, each]) => {
        const text = await textOf(each, above, FREE_BELOW);
        return text === 'null' ? '' : `/${key} ${text}`;
      });
      return `<<${written}>>`;
    }
    if (isOf(value, 'string')) return `(${Buffer.from(value.bytes).toString('hex')})`;
    return isOf(value, 'name') ? `/${value.name}` : String(numberOf(value) ?? value);
  }

  const [form, signedForm] = [await readForm(document), await readForm(signed)];
  const signatures = new Set<string>();
  for (const field of await itemsOf(document, form?.entries.get('Fields'))) {
    const kids = await itemsOf(document, (await document.dictionary(field))?.entries.get('Kids'));
    if (await isSignature(document, field)) for (const each of [field, ...kids]) signatures.add(keyOf(each));
  }

  /** Items of a list that grows. Later signatures may fill empty signature fields, and add others. */
  async function listed(now: PdfValue, before: readonly PdfValue[]): Promise<string> {
    const known = new Set(before.map(keyOf));
    const items = await itemsOf(document, now);
    const shown = items.filter((each) => known.has(keyOf(each)) || !signatures.has(keyOf(each)));
    return inTurn(shown, async (each) => {
      const isEmpty = (await isSignature(signed, each)) && !(await signed.dictionary(each))?.entries.has('V');
      return textOf(each, [], isEmpty ? FREE_IN_EMPTY_FIELD : FREE_BELOW);
    });
  }

  const parts = [
    await textOf(document.root, [], FREE_IN_CATALOG),
    await textOf(form ?? null, [], FREE_IN_FORM),
    await listed(form?.entries.get('Fields') ?? null, await itemsOf(signed, signedForm?.entries.get('Fields'))),
  ];
  const signedPages: PdfDictionary[] = [];
  for await (const { page } of pagesOf(signed)) signedPages.push(page);
  for await (const { page } of pagesOf(document)) {
    const before = signedPages.shift();
    parts.push(await listed(page.entries.get('Annots') ?? null, await itemsOf(signed, before?.entries.get('Annots'))));
  }
  // An empty form may be added.
  return left < 0 ? undefined : parts.map((part) => part.replace(/^(null|<<>>)$/, '')).join('\n');
}

async function dataOf(document: PdfDocument, object: IndirectObject): Promise<string> {
  const { streamStart } = object;
  if (streamStart === undefined) return '';
  const length = await streamLength(document, object);
  const end =
    length === undefined
      ? await findEndstream(document.source, streamStart, document.source.size)
      : streamStart + length;
  return `stream ${Buffer.from(await document.source.read(streamStart, (end ?? streamStart) - streamStart)).toString('latin1')}`;
}

async function isSignature(document: PdfDocument, field: PdfValue): Promise<boolean> {
  const entries = (await document.dictionary(field))?.entries;
  const above = (await document.dictionary(entries?.get('Parent')))?.entries;
  return nameOf(await document.resolve(entries?.get('FT') ?? above?.get('FT'))) === 'Sig';
}

/** Without those that lead nowhere. */
async function itemsOf(document: PdfDocument, value: PdfValue | undefined): Promise<readonly PdfValue[]> {
  const list = await document.resolve(value);
  const found: PdfValue[] = [];
  for (const item of isOf(list, 'array') ? list.items : [])
    if ((await document.resolve(item)) !== null) found.push(item);
  return found;
}

async function inTurn<T>(items: readonly T[], work: (item: T) => Promise<string>): Promise<string> {
  const texts: string[] = [];
  for (const item of items) texts.push(await work(item));
  return texts.filter((text) => text !== '').join(' ');
}
