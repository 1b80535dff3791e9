/** A document timestamp is reported as a timestamp of each signature that it covers. */

import { digestAlgorithmOf } from '../../asn1/algorithm-identifiers.ts';
import type { SignedData } from '../../cms/parse-signed-data.ts';
import { CodesignError } from '../../errors/codesign-error.ts';
import type { Finding } from '../../errors/finding.ts';
import { cmsSignature, timestampsOf } from '../../format/cms.ts';
import type { Detail, FoundSignature } from '../../format/signature.ts';
import type { Field } from '../../pdf-syntax/structure.ts';
import { textOf } from '../../pdf-syntax/values.ts';
import { type ReadTimestamps, timestampReader } from '../../timestamp/read-timestamps.ts';
import type { Timestamp } from '../../timestamp/timestamp.ts';
import { examineCoverage, examineStored } from './examine/signature.ts';
import type { OpenedPdf } from './opened.ts';
import { endOf, isDocumentTimestamp, PDF_PROFILE, type StoredSignature, signedDataOf } from './stored.ts';

export const locationOf = ({ name }: Pick<Field, 'name'>): string => `field ${name}`;

export async function readSignatures(opened: OpenedPdf): Promise<readonly FoundSignature[]> {
  const read = timestampReader(opened.reader.budget);
  const documentTimestamps: { readonly end: number; readonly timestamp: Timestamp }[] = [];
  for (const stored of opened.stored.filter(isDocumentTimestamp)) {
    documentTimestamps.push({ end: endOf(stored), timestamp: await readDocumentTimestamp(opened, stored) });
  }
  return opened.stored
    .filter((stored) => !isDocumentTimestamp(stored))
    .map((stored) => {
      const covering = documentTimestamps.filter(({ end }) => end > endOf(stored)).map(({ timestamp }) => timestamp);
      return signatureOf(opened, stored, covering, read);
    });
}

function signatureOf(
  opened: OpenedPdf,
  stored: StoredSignature,
  covering: readonly Timestamp[],
  read: ReadTimestamps,
): FoundSignature {
  const parsed = signedDataOf(stored);
  const signedData = parsed instanceof CodesignError ? undefined : parsed;
  const signer = signedData?.signers[0];
  return cmsSignature({
    location: locationOf(stored.field),
    cms: signedData?.bytes ?? stored.cms ?? new Uint8Array(),
    signedData,
    signer,
    algorithm: () => signer && digestAlgorithmOf(signer.digestAlgorithm),
    timestamps: () => [
      ...(signedData && signer ? timestampsOf(PDF_PROFILE, signedData, signer, read) : []),
      ...covering,
    ],
    details: async () => describe(opened, stored, signedData),
    examine: () => examineStored(opened, stored),
  });
}

export async function findingsOf(opened: OpenedPdf, stored: StoredSignature): Promise<readonly Finding[]> {
  if (!isDocumentTimestamp(stored)) return examineStored(opened, stored);
  return (await readDocumentTimestamp(opened, stored)).findings;
}

async function readDocumentTimestamp(opened: OpenedPdf, stored: StoredSignature): Promise<Timestamp> {
  const timestamp = await opened.timestamp(stored);
  return { ...timestamp, findings: [...(await examineCoverage(opened, stored)), ...timestamp.findings] };
}

const LEVELS = ['no changes allowed', 'forms and signatures allowed', 'forms, signatures and comments allowed'];

async function describe(
  { document, stored: all, digest }: OpenedPdf,
  stored: StoredSignature,
  signedData: SignedData | undefined,
): Promise<readonly Detail[]> {
  const { field, dictionary, subFilter, ranges, permission, lock } = stored;
  const details: Detail[] = [{ name: 'field', value: field.name || '(no name)' }];
  const add = (name: string, value: string | undefined): void => {
    if (value !== undefined && value !== '') details.push({ name, value: value.slice(0, LONGEST_DETAIL) });
  };
  add('kind', subFilter);
  const revision = all.indexOf(stored) + 1;
  if (ranges !== undefined) {
    const { size } = document.source;
    const covered = ranges[1].end === size ? 'the whole file' : `${ranges[1].end} of ${size} bytes`;
    add('coverage', `${covered} (signed revision ${revision} of ${all.length})`);
  }
  const [signer] = signedData?.signers ?? [];
  const algorithm = signer && digestAlgorithmOf(signer.digestAlgorithm);
  const value = algorithm && (await digest(stored, algorithm));
  if (value !== undefined) add(`content digest (${algorithm})`, Buffer.from(value).toString('hex'));
  const { entries } = dictionary;
  add('signing time', timeOf(textOf(entries.get('M'))));
  for (const [name, key] of TEXTS) add(name, textOf(entries.get(key)));
  if (permission !== undefined) add('certification', LEVELS[permission - 1]);
  if (lock !== undefined)
    add('locked fields', lock.action === 'All' ? 'all' : `${lock.action}: ${lock.names.join(', ')}`);
  return details;
}

const LONGEST_DETAIL = 4096;

const TEXTS = [
  ['name', 'Name'],
  ['reason', 'Reason'],
  ['location', 'Location'],
  ['contact', 'ContactInfo'],
] as const;

/** Converts a PDF date (7.9.4) to the form in which it is displayed. Returns an invalid date unchanged. */
function timeOf(text: string | undefined): string | undefined {
  const [, ...parts] = /^D:(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(.{0,7})/.exec(text ?? '') ?? [];
  if (parts.length === 0) return text;
  const [year, month = '01', day = '01', hour = '00', minute = '00', second = '00', zone = ''] = parts;
  const offset = zone.startsWith('Z') || zone === '' ? 'Z' : zone.replace(/'$/, '').replace("'", ':');
  return `${year}-${month}-${day}T${hour}:${minute}:${second}${offset} (as the signer says)`;
}
