/** Rows of the database to what the store speaks of, and back. */

import type { Selectable } from 'kysely';
import type { DigestAlgorithm } from '../../../src/crypto/algorithms.ts';
import type { Client, ReportStatus, SignatureRecord, StoredCertificate, Viewer } from './store.ts';
import type { Tables } from './tables.ts';

export function toClient(row: Selectable<Tables['clients']>): Client {
  return {
    ...toViewer(row),
    signatures: row.signatures,
    reserved: row.reserved,
    handedOver: row.handed_over === 1,
    certificates: toList(row.certificates),
    algorithms: toList<DigestAlgorithm>(row.algorithms),
    quota: row.quota ?? undefined,
    disabled: row.disabled === 1,
  };
}

/** Whoever has credentials: a viewer has no more than them. */
export function toViewer(row: Selectable<Tables['viewers']>): Viewer {
  return {
    id: row.id,
    accessKey: row.access_key,
    secretDigest: Buffer.from(row.secret_digest, 'hex'),
    name: row.name ?? undefined,
    expiresAt: row.expires_at === null ? undefined : new Date(row.expires_at),
    createdAt: new Date(row.created_at),
  };
}

export function toCertificate(row: Selectable<Tables['certificates']>): StoredCertificate {
  return {
    number: row.number,
    keyId: row.key_id,
    chain: row.chain,
    notBefore: new Date(row.not_before),
    notAfter: new Date(row.not_after),
    disabled: row.disabled === 1,
  };
}

export function toRecord(row: Selectable<Tables['records']>): SignatureRecord {
  const { report_status: status, reported_at: at } = row;
  return {
    id: row.id,
    clientId: row.client_id,
    certificate: row.certificate,
    algorithm: row.algorithm as DigestAlgorithm,
    digest: Buffer.from(row.digest, 'hex'),
    extra: row.extra === null ? undefined : JSON.parse(row.extra),
    signature: row.signature === null ? undefined : Buffer.from(row.signature, 'base64'),
    signedAt: new Date(row.signed_at),
    counted: row.counted === 1,
    report: status === null || at === null ? undefined : { status: status as ReportStatus, at: new Date(at) },
  };
}

/** What a new record's row has; what the rest of its columns are, the database says. */
export const RECORD_COLUMNS: readonly (keyof ReturnType<typeof toRecordRow>)[] = [
  ...(['id', 'client_id', 'certificate', 'algorithm', 'digest', 'extra', 'signature', 'signed_at'] as const),
];

export function toRecordRow(record: Omit<SignatureRecord, 'counted' | 'report'>) {
  const { extra, signature } = record;
  return {
    id: record.id,
    client_id: record.clientId,
    certificate: record.certificate,
    algorithm: record.algorithm,
    digest: hex(record.digest),
    extra: extra === undefined ? null : JSON.stringify(extra),
    signature: signature === undefined ? null : Buffer.from(signature).toString('base64'),
    signed_at: record.signedAt.toISOString(),
  };
}

/** Whether any database can hold the text: PostgreSQL has no NUL in one, so that nothing is known by such a name. */
export function isStorable(text: string): boolean {
  return !text.includes('\0');
}

export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

export function fromList(list: readonly string[] | undefined): string | null {
  return list === undefined ? null : JSON.stringify(list);
}

function toList<T extends string>(text: string | null): readonly T[] | undefined {
  return text === null ? undefined : JSON.parse(text);
}
