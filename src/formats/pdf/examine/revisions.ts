/** Checks that readers display the signed document, by comparing the signed revision with later updates. */

import { rangeSource } from '../../../bytes/byte-source.ts';
import { BUDGET_SPENT } from '../../../crypto/work-budget.ts';
import { CodesignError, expectedError } from '../../../errors/codesign-error.ts';
import {
  broken,
  type Finding,
  hasFindingAgainst,
  note,
  rejected,
  unsupported,
  warning,
} from '../../../errors/finding.ts';
import { plural } from '../../../errors/plural.ts';
import { openDocument, type PdfDocument } from '../../../pdf-syntax/document.ts';
import { pagesOf, readCatalog } from '../../../pdf-syntax/structure.ts';
import { keyOf } from '../../../pdf-syntax/values.ts';
import type { OpenedPdf } from '../opened.ts';
import { readSignatureFields, type StoredSignature } from '../stored.ts';
import { findAdditions } from './additions.ts';
import { differenceBetween, type Pair } from './compare.ts';
import { movedObjects } from './later-bytes.ts';

export function examineRevision(opened: OpenedPdf, stored: StoredSignature): Promise<readonly Finding[]> {
  const examining = opened.revisions.get(stored) ?? examine(opened, stored);
  opened.revisions.set(stored, examining);
  return examining;
}

async function examine(opened: OpenedPdf, stored: StoredSignature): Promise<readonly Finding[]> {
  // The comparison of a later revision skips the objects that are the same in an earlier revision and in the last one.
  const earlier = opened.stored[opened.stored.indexOf(stored) - 1];
  if (earlier !== undefined) await examineRevision(opened, earlier);
  const findings = await compareRevision(opened, stored).catch(expectedError);
  if (!(findings instanceof CodesignError)) return findings;
  const message = `The signed revision cannot be compared with the document: ${findings.message}.`;
  return [rejected(findings, findings.code, message)];
}

async function compareRevision(opened: OpenedPdf, { ranges, contents }: StoredSignature): Promise<readonly Finding[]> {
  const { document } = opened;
  if (ranges === undefined || contents === undefined) return [];
  if (!opened.takeComparison()) return [TOO_MANY_CHECKS];
  const { end } = ranges[1];
  const signed = await openDocument(rangeSource(document.source, 0, end), document.sections).catch(expectedError);
  if (signed instanceof CodesignError) {
    return [
      broken(
        'pdf-revision-unreadable',
        `The bytes that the signature covers are not a complete document: ${signed.message}.`,
      ),
    ];
  }
  const later = document.sections.length - signed.sections.length;
  const isBuiltOn =
    later >= 0 && signed.sections.every(({ offset }, index) => offset === document.sections[later + index]?.offset);
  if (!isBuiltOn) {
    return [broken('pdf-revision-replaced', 'The current document is not an update of the signed document.')];
  }
  for (const { extent } of signed.sections) {
    if (extent().highest >= end) {
      return [
        broken(
          'pdf-revision-open',
          'Objects of the signed document are stored after the bytes that the signature covers.',
        ),
      ];
    }
  }
  const { stored: signatures, fields } = await readSignatureFields(signed);
  const own = signatures.find((each) => each.contents?.start === contents.start);
  if (own === undefined) {
    return [broken('pdf-signature-misplaced', 'The signature is not part of the revision that it covers.')];
  }
  const hidden = (await opened.unlisted()).reduce(
    (sum, each) => sum + Math.max(0, each.end - Math.max(end, each.start)),
    0,
  );
  if (hidden > 0) {
    const message = `The file hides ${plural(hidden, 'byte')} after the signed revision, which no signature covers.`;
    return [broken('hidden-bytes', message)];
  }
  if (later === 0) return [];
  const { moved, misled } = await movedObjects(signed, document, later);
  if (misled !== undefined) return [changed(misled)];
  const [permission] = signatures.flatMap((each) => each.permission ?? []).sort();
  const additions = await findAdditions(
    signed,
    document,
    fields,
    { permission, lock: own.lock },
    {
      stored: opened.stored,
      isTimestampIntact: async (each) => !hasFindingAgainst((await opened.timestamp(each)).findings, 'integrity'),
    },
  );
  const revisions = { signed, last: document, moved };
  // The second comparison reads all pages, because that may permit more changes, and records the path to the
  // difference.
  const inShort = await differenceBetween(revisions, additions, opened.settled);
  const difference = inShort && (await differenceBetween(revisions, additions, undefined));
  if (difference !== undefined) {
    const path = await pathOf(signed, difference);
    if (difference.area === 'structure' && permission !== 1)
      return [notChecked(path, 'It concerns what screen readers read aloud')];
    const isPermitted = difference.area === 'form' && (permission ?? 1) > 1;
    return [isPermitted ? notChecked(path, 'The signer allowed later changes') : changed(path)];
  }
  const [before, now] = [await readCatalog(signed), await readCatalog(document)];
  const isCertificationRemoved = before.entries.has('Perms') && !now.entries.has('Perms');
  return [...(additions.isVisible ? [COVERED] : []), ...(isCertificationRemoved ? [CERTIFICATION_REMOVED] : [])];
}

const TOO_MANY_CHECKS = unsupported(
  BUDGET_SPENT,
  'What was changed after the signature was not checked: the document needs too many checks.',
);

const CHANGED = 'pdf-changed-after-signing';

const changed = (what: string): Finding => broken(CHANGED, `The document was changed after this signature: ${what}.`);

const notChecked = (what: string, why: string): Finding =>
  unsupported(
    CHANGED,
    `The document was changed after this signature: ${what}. ${why}, and this program does not check such changes: open it in a PDF reader.`,
  );

const COVERED = warning(
  'pdf-changed-later',
  'A visible signature field was added after this signature. It may cover what was signed.',
);

const CERTIFICATION_REMOVED = note(
  'pdf-certification-removed',
  'The last revision no longer names the certification of the document (/Perms), so PDF readers do not show it.',
);

const MOST_KEYS_SHOWN = 8;

async function pathOf(document: PdfDocument, pair: Pair): Promise<string> {
  if (pair.key === 'Length' && pair.above !== undefined) return pathOf(document, pair.above);
  const pages = await pageNumbers(document);
  const keys: string[] = [];
  for (let at: Pair | undefined = pair; at !== undefined; at = at.above) {
    const page = pages.get(keyOf(at.reference ?? at.old));
    if (page !== undefined) return [`page ${page}`, ...keysOf(keys)].join(', ');
    if (at.key !== undefined) keys.unshift(typeof at.key === 'number' ? `[${at.key}]` : `/${at.key}`);
  }
  return ['the catalog', ...keysOf(keys)].join(', ');
}

function keysOf(keys: readonly string[]): readonly string[] {
  if (keys.length === 0) return [];
  return [keys.length > MOST_KEYS_SHOWN ? `… ${keys.slice(-MOST_KEYS_SHOWN).join(' ')}` : keys.join(' ')];
}

async function pageNumbers(document: PdfDocument): Promise<ReadonlyMap<string, number>> {
  const numbers = new Map<string, number>();
  for await (const { value } of pagesOf(document)) numbers.set(keyOf(value), numbers.size + 1);
  return numbers;
}
