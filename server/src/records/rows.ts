/** The database's tables as kysely sees them, and their rows as the store's types. */

import type { Generated, Selectable } from 'kysely';
import type { DigestAlgorithm } from '../../../src/crypto/algorithms.ts';
import type { Client, ReportStatus, SignatureRecord, StoredCertificate, Viewer } from './store.ts';

export interface Tables {
  clients: {
    id: string;
    access_key: string;
    /** Lower-case hexadecimal. */
    secret_digest: string;
    signatures: Generated<number>;
    /** 0 or 1. */
    handed_over: Generated<number>;
    created_at: string;
    name: string | null;
    /** A JSON list; null: all. */
    certificates: string | null;
    /** A JSON list; null: all. */
    algorithms: string | null;
    /** Null: no bound. */
    quota: number | null;
    /** As many as it has leases. */
    reserved: Generated<number>;
    expires_at: string | null;
    /** 0 or 1. */
    disabled: Generated<number>;
  };
  viewers: {
    id: string;
    access_key: string;
    /** Lower-case hexadecimal. */
    secret_digest: string;
    name: string | null;
    expires_at: string | null;
    created_at: string;
  };
  leases: { id: string; client_id: string; expires_at: string };
  certificate_requests: { number: string; key_id: string; request: string; created_at: string };
  certificates: {
    number: string;
    key_id: string;
    chain: string;
    not_before: string;
    not_after: string;
    created_at: string;
    /** 0 or 1. */
    disabled: Generated<number>;
  };
  authorities: { purpose: string; key_id: string; certificate: string };
  records: {
    id: string;
    client_id: string;
    certificate: string;
    algorithm: string;
    /** Lower-case hexadecimal. */
    digest: string;
    /** JSON, or null where the request had none. */
    extra: string | null;
    signed_at: string;
    /** 0 or 1. */
    counted: Generated<number>;
    report_status: number | null;
    reported_at: string | null;
    /** Base64, or null in records of the first release. */
    signature: string | null;
  };
}

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

/** A viewer has credentials and nothing else. */
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

/** The columns of a new record; the others have defaults. */
export const RECORD_COLUMNS = [
  ...(['id', 'client_id', 'certificate', 'algorithm', 'digest', 'extra', 'signature', 'signed_at'] as const),
] satisfies readonly (keyof ReturnType<typeof toRecordRow>)[];

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

/** The value of each key; the rows can be in any order. */
export function byKey<Row, T>(
  keys: readonly string[],
  rows: readonly Row[],
  keyOf: (row: Row) => string,
  convert: (row: Row) => T,
): readonly (T | undefined)[] {
  const found = new Map(rows.map((row) => [keyOf(row), convert(row)]));
  return keys.map((key) => found.get(key));
}

/** Whether every database can store the text: PostgreSQL stores no NUL, so no name contains one. */
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
