/** THE STORE SEAM: what the server remembers about clients, certificates and signatures. Types only. */

import type { DigestAlgorithm } from '../../../src/crypto/algorithms.ts';
import type { Extra } from '../../../src/service/messages.ts';

/** The two states that a client may report (API 2.5). */
export type ReportStatus = 1 | 2;

export interface Client {
  readonly id: string;
  /** The user name of HTTP Basic. */
  readonly accessKey: string;
  /** SHA-256 of the access secret, 32 bytes; the secret itself is nowhere. */
  readonly secretDigest: Uint8Array;
  /** Signatures counted so far (API 8). */
  readonly signatures: number;
  /** Whether somebody got the secret; it stays false when a first start was interrupted before that. */
  readonly handedOver: boolean;
}

export interface StoredCertificate {
  /** API 2.2 `code`. */
  readonly number: string;
  readonly keyId: string;
  /** Leaf first, then its issuer, as PEM. */
  readonly chain: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
}

export interface Authority {
  readonly keyId: string;
  readonly certificate: string;
}

export interface StoredTimestampAuthority {
  readonly keyId: string;
  /** Leaf first, then its issuer, as PEM. */
  readonly chain: string;
}

export interface SignatureRecord {
  /** API 2.4 `id`. */
  readonly id: string;
  readonly clientId: string;
  readonly certificate: string;
  readonly algorithm: DigestAlgorithm;
  readonly digest: Uint8Array;
  readonly extra: Extra | undefined;
  readonly signedAt: Date;
  /** Whether it counts for its client: false once its answer is known not to have gone out (API 8, rule 2). */
  readonly counted: boolean;
  readonly report: { readonly status: ReportStatus; readonly at: Date } | undefined;
}

export interface Store {
  readonly clients: {
    list(): Promise<readonly Client[]>;
    findByAccessKey(accessKey: string): Promise<Client | undefined>;
    /** Adds a client that has no secret in anybody's hands yet; its predecessors in that state go. */
    addPending(client: Pick<Client, 'id' | 'accessKey' | 'secretDigest'>, at: Date): Promise<void>;
    /** Rejects where there is no such client: whoever got its secret got nothing. */
    markHandedOver(id: string): Promise<void>;
  };
  readonly certificates: {
    list(): Promise<readonly StoredCertificate[]>;
    find(number: string): Promise<StoredCertificate | undefined>;
    /** @returns false where the number is taken */
    add(certificate: StoredCertificate, at: Date): Promise<boolean>;
  };
  /** The authority for code signing, once there is one. */
  readonly authority: {
    get(): Promise<Authority | undefined>;
    set(authority: Authority): Promise<void>;
  };
  /** The authority for timestamps, once there is one. */
  readonly timestampAuthority: {
    get(): Promise<StoredTimestampAuthority | undefined>;
    /**
     * Puts one in the place of the one before, unless another server was quicker.
     * @returns the one that is there then
     */
    replace(
      before: StoredTimestampAuthority | undefined,
      authority: StoredTimestampAuthority,
    ): Promise<StoredTimestampAuthority>;
  };
  readonly records: {
    /** Stores the record and counts it for its client, both or neither, durably. */
    add(record: Omit<SignatureRecord, 'counted' | 'report'>): Promise<void>;
    find(id: string): Promise<SignatureRecord | undefined>;
    /** Takes a count back whose answer never went out; does nothing the second time. */
    uncount(id: string): Promise<void>;
    /** Notes a report on this client's record; the latest stands. @returns the record, or undefined where the client has none of this id */
    report(id: string, clientId: string, status: ReportStatus, at: Date): Promise<SignatureRecord | undefined>;
  };
  close(): Promise<void>;
}
