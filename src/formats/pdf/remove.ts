import type { Patch } from '../../bytes/pieces.ts';
import { CodesignError, expectedError } from '../../errors/codesign-error.ts';
import { formatErrors } from '../../format/errors.ts';
import { nameOf } from '../../pdf-syntax/values.ts';
import { pdfSigningErrors } from './errors.ts';
import { findAdditions } from './examine/additions.ts';
import { differenceBetween } from './examine/compare.ts';
import { movedObjects } from './examine/later-bytes.ts';
import { PROGRAM_NAME, truncated } from './new-signature.ts';
import { type OpenedPdf, openWith } from './opened.ts';
import type { StoredSignature } from './stored.ts';

/** The last update must have been written by this program, or must contain nothing except a signature. */
export async function lastUpdate({
  document,
  stored,
  reader,
}: OpenedPdf): Promise<{ readonly patch: Patch; readonly removed: readonly StoredSignature[] }> {
  const last = stored.at(-1);
  if (last === undefined) throw formatErrors('not-signed');
  const { source, sections } = document;
  const refuse = (reason: string) => pdfSigningErrors('pdf-cannot-remove', { reason });
  const { lowest } = sections[0].extent();
  if (sections.length < 2 || last.contents === undefined || last.contents.start < lowest) {
    throw refuse('it is not an update that adds a signature');
  }
  const isOurs = await isOfThisProgram(document, last);
  const start = isOurs ? lowest - 1 : lowest;
  const before = await openWith(truncated(source, start), reader).catch(expectedError);
  if (before instanceof CodesignError || before.document.sections[0].offset !== sections[1]?.offset) {
    throw refuse('what is before it is not a whole document');
  }
  if (!isOurs) {
    const { moved } = await movedObjects(before.document, document, 1);
    const everySignature = { stored, isTimestampIntact: async () => true };
    const additions = await findAdditions(before.document, document, before.fields, NO_RESTRICTIONS, everySignature);
    const revisions = { signed: before.document, last: document, moved };
    const difference = await differenceBetween(revisions, additions, undefined);
    if (difference !== undefined) throw refuse('it holds other changes than a signature');
  }
  const removed = stored.filter(({ contents }) => contents !== undefined && contents.start >= start);
  return { patch: [{ offset: start, remove: source.size - start, insert: [] }], removed };
}

const NO_RESTRICTIONS = { permission: undefined, lock: undefined };

async function isOfThisProgram(document: OpenedPdf['document'], { dictionary }: StoredSignature): Promise<boolean> {
  const build = await document.dictionary(dictionary.entries.get('Prop_Build'));
  const app = await document.dictionary(build?.entries.get('App'));
  return nameOf(app?.entries.get('Name')) === PROGRAM_NAME;
}
