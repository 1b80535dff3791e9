import type { Generated, RawBuilder, Selectable } from 'kysely';
import type { DigestAlgorithm } from '../../../src/crypto/algorithms.ts';
import type { Extra } from '../../../src/service/messages.ts';

interface HolderRow {
  id: string;
  access_key: string;
  /** SHA-256 of the access secret in lower-case hexadecimal. */
  secret_digest: string;
  name: string | null;
  expires_at: string | null;
  created_at: string;
}

/** Times are stored as text in UTC, in the format of `toISOString`. */
export interface Tables {
  clients: HolderRow & {
    /** Digest of the old secret, which is accepted until `previous_until`. */
    previous_digest: string | null;
    previous_until: string | null;
    signatures: Generated<number>;
    /** JSON list of the certificates that the client may use; null if it may use all. */
    certificates: string | null;
    algorithms: string | null;
    quota: number | null;
    monthly_quota: number | null;
    disabled: Generated<number>;
  };
  /** Number of signatures of a client in a month (UTC), such as 2030-12. */
  client_months: { client_id: string; month: string; signatures: number };
  viewers: HolderRow;
  /** Keys for which a CA has not yet issued a certificate. `request` is PKCS#10 in PEM format. */
  certificate_requests: { number: string; key_id: string; request: string; created_at: string };
  certificates: {
    /** The `code` field of a request (API 2.2). */
    number: string;
    key_id: string;
    /** PEM. The leaf certificate is first. */
    chain: string;
    not_before: string;
    not_after: string;
    created_at: string;
    disabled: Generated<number>;
    /** The certificate is disabled after this time. */
    enabled_until: string | null;
  };
  operations: Record<'id' | 'at' | 'operator' | 'host' | 'command' | 'details', string> & { target: string | null };
  /** `certificate` is in PEM format. */
  authorities: { purpose: string; key_id: string; certificate: string };
  records: {
    /** The `id` field of a response (API 2.4). */
    id: string;
    client_id: string;
    certificate: string;
    algorithm: string;
    digest: string;
    extra: string | null;
    signed_at: string;
    /** The month in which the signature is counted, by the database's clock. */
    month: string;
    /** 0 if the response was not sent (API 8, rule 2). */
    counted: Generated<number>;
    report_status: number | null;
    reported_at: string | null;
    /** Base64. If the response was lost, the operator can give the signature to the client. */
    signature: string | null;
  };
}

/** SQL that differs between SQLite and PostgreSQL. */
export interface Syntax {
  /** Returns a table for `from`. With all rows in one parameter, the database compiles the statement only once. */
  readonly rowsTable: (
    rows: readonly Readonly<Record<string, string | null>>[],
    columns: readonly string[],
  ) => RawBuilder<unknown>;
  /** The current month (UTC) by the database's clock, for example 2030-12. */
  readonly month: RawBuilder<string>;
}

export type ReportStatus = 1 | 2;

export type Viewer = Readonly<ReturnType<typeof toViewer>>;
export type Client = Readonly<ReturnType<typeof toClient>>;
export type NewClient = Omit<Client, 'signatures' | 'monthSignatures' | 'previous' | 'disabled' | 'createdAt'>;
export type StoredCertificate = Readonly<ReturnType<typeof toCertificate>>;
export type IssuedCertificate = Omit<StoredCertificate, 'disabled' | 'enabledUntil'>;
export type SignatureRecord = Readonly<ReturnType<typeof toRecord>>;
export type NewRecord = Omit<SignatureRecord, 'counted' | 'report'>;
export type ClientRow = Selectable<Tables['clients']> & { readonly month_signatures: number };

export function toClient(row: ClientRow) {
  const { previous_digest: digest, previous_until: until } = row;
  return {
    ...toViewer(row),
    previous: digest === null || until === null ? undefined : { digest: fromHex(digest), until: new Date(until) },
    signatures: row.signatures,
    monthSignatures: row.month_signatures,
    certificates: toList<string>(row.certificates),
    algorithms: toList<DigestAlgorithm>(row.algorithms),
    quota: row.quota ?? undefined,
    monthlyQuota: row.monthly_quota ?? undefined,
    disabled: row.disabled === 1,
  };
}

export function quotasOf({ signatures, quota, monthSignatures, monthlyQuota }: Client) {
  const of = <Period extends string>(period: Period, used: number, limit: number | undefined) => ({
    ...{ period, used, quota: limit, left: limit === undefined ? undefined : Math.max(0, limit - used) },
  });
  return [of('total', signatures, quota), of('month', monthSignatures, monthlyQuota)] as const;
}

export function toViewer(row: Selectable<Tables['viewers']>) {
  return {
    id: row.id,
    accessKey: row.access_key,
    secretDigest: fromHex(row.secret_digest),
    name: row.name ?? undefined,
    expiresAt: row.expires_at === null ? undefined : new Date(row.expires_at),
    createdAt: new Date(row.created_at),
  };
}

export function toCertificate(row: Selectable<Tables['certificates']>) {
  return {
    number: row.number,
    keyId: row.key_id,
    chain: row.chain,
    notBefore: new Date(row.not_before),
    notAfter: new Date(row.not_after),
    disabled: row.disabled === 1,
    enabledUntil: row.enabled_until === null ? undefined : new Date(row.enabled_until),
  };
}

export function isDisabled({ disabled, enabledUntil }: StoredCertificate, now: Date): boolean {
  return disabled || (enabledUntil !== undefined && now >= enabledUntil);
}

export function toRecord(row: Omit<Selectable<Tables['records']>, 'month'>) {
  const { report_status: status, reported_at: at } = row;
  return {
    id: row.id,
    clientId: row.client_id,
    certificate: row.certificate,
    algorithm: row.algorithm as DigestAlgorithm,
    digest: fromHex(row.digest),
    extra: row.extra === null ? undefined : (JSON.parse(row.extra) as Extra),
    signature: row.signature === null ? undefined : (Buffer.from(row.signature, 'base64') as Uint8Array),
    signedAt: new Date(row.signed_at),
    counted: row.counted === 1,
    report: status === null || at === null ? undefined : { status: status as ReportStatus, at: new Date(at) },
  };
}

export const EXTRA_LIMIT = 4096;

export function sizeOfExtra(extra: Extra): number {
  return Buffer.byteLength(JSON.stringify(extra));
}

export const RECORD_COLUMNS = [
  ...(['id', 'client_id', 'certificate', 'algorithm', 'digest', 'extra', 'signature', 'signed_at'] as const),
] satisfies readonly (keyof ReturnType<typeof toRecordRow>)[];

export function toRecordRow(record: NewRecord) {
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

/** PostgreSQL cannot store NUL characters. */
export function isStorable(text: string): boolean {
  return !text.includes('\0');
}

export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

function fromHex(text: string): Uint8Array {
  return Buffer.from(text, 'hex');
}

export function fromList(list: readonly string[] | undefined): string | null {
  return list === undefined ? null : JSON.stringify(list);
}

function toList<T extends string>(text: string | null): readonly T[] | undefined {
  return text === null ? undefined : JSON.parse(text);
}
