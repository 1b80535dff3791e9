/** THE STORE SEAM: what the server remembers about clients, certificates and signatures. Types only. */

import type { DigestAlgorithm } from '../../../src/crypto/algorithms.ts';
import type { Extra } from '../../../src/service/messages.ts';

/** The two states that a client may report (API 2.5). */
export type ReportStatus = 1 | 2;

/** Credentials: of a client, which signs, or of a viewer, who may only look at the operator's page. */
export interface Holder {
  readonly id: string;
  /** The user name of HTTP Basic. */
  readonly accessKey: string;
  /** SHA-256 of the access secret, 32 bytes; the secret itself is not stored. */
  readonly secretDigest: Uint8Array;
  /** For people. */
  readonly name: string | undefined;
  /** From then on its credentials are rejected. */
  readonly expiresAt: Date | undefined;
  readonly createdAt: Date;
}
export type Viewer = Holder;

export interface Client extends Holder {
  /** Signatures counted so far (API 8). */
  readonly signatures: number;
  /** Places of the quota held by calls under way, or by calls of a server that was killed. */
  readonly reserved: number;
  /** Whether its secret was handed over: false after a first start that was interrupted before that. */
  readonly handedOver: boolean;
  /** Numbers of the certificates it may use; undefined: all. */
  readonly certificates: readonly string[] | undefined;
  /** Undefined: all. */
  readonly algorithms: readonly DigestAlgorithm[] | undefined;
  /** The limit of signatures ever counted for it; undefined: none. */
  readonly quota: number | undefined;
  readonly disabled: boolean;
}

/** What an operator says of a new client. */
export type NewClient = Omit<Client, 'signatures' | 'reserved' | 'handedOver' | 'disabled' | 'createdAt'>;

/** One signature of a client's quota, reserved for a call. */
export interface Lease {
  /** That of the record which is to be counted in the place. */
  readonly id: string;
  readonly clientId: string;
  /** From then on the place may be given back: the server that held it counts as dead. */
  readonly expiresAt: Date;
}

/** A key that waits for its certificate. */
export interface CertificateRequest {
  readonly number: string;
  readonly keyId: string;
  /** PKCS#10, PEM. */
  readonly request: string;
}

export interface StoredCertificate {
  /** API 2.2 `code`. */
  readonly number: string;
  readonly keyId: string;
  /** Leaf first, then its issuer, as PEM. */
  readonly chain: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** An operator has taken it out of use: clients cannot sign with it. */
  readonly disabled: boolean;
}

/** The data of a certificate that is created or imported. */
export type IssuedCertificate = Omit<StoredCertificate, 'disabled'>;

/** What an authority of the server certifies. */
export type AuthorityPurpose = 'code-signing' | 'time-stamping';

export interface StoredAuthority {
  readonly keyId: string;
  /** PEM: its certificate, then its issuer where there is one. */
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
  /** What the client was given, for an operator to find again; undefined in records from before it was kept. */
  readonly signature: Uint8Array | undefined;
  readonly signedAt: Date;
  /** Whether it counts for its client: false once its answer is known not to have gone out (API 8, rule 2). */
  readonly counted: boolean;
  readonly report: { readonly status: ReportStatus; readonly at: Date } | undefined;
}

export interface RecordFilter {
  readonly clientId?: string | undefined;
  readonly certificate?: string | undefined;
  /** Signed then or later. */
  readonly since?: Date | undefined;
  /** Signed before. */
  readonly until?: Date | undefined;
}

/** Where a record stands in the order of signing. */
export type Position = Pick<SignatureRecord, 'id' | 'signedAt'>;

/** The filter of the page. */
export interface SearchFilter extends RecordFilter {
  readonly report?: ReportStatus | 'none' | undefined;
  /** How its id begins, in lower case. */
  readonly id?: string | undefined;
  /** How its digest begins, in lower-case hexadecimal. */
  readonly digest?: string | undefined;
  /** Part of the file's name as people see it, in capitals or not: what would steer a terminal is written out. */
  readonly file?: string | undefined;
}

/** Some of the records that follow each other in the order of signing. */
export interface Batch {
  /** Those that fit, without their signatures. */
  readonly records: readonly SignatureRecord[];
  /** The last one looked at, fitting or not, where there may be more behind it. */
  readonly next: Position | undefined;
}

/** How many signatures of a day share what became of them. */
export interface DayCount {
  /** As in 2030-12-31, UTC. */
  readonly day: string;
  readonly counted: boolean;
  readonly report: ReportStatus | undefined;
  readonly signatures: number;
}

export interface Store {
  readonly viewers: {
    list(): Promise<readonly Viewer[]>;
    findByAccessKey(accessKey: string): Promise<Viewer | undefined>;
    add(viewer: Omit<Viewer, 'createdAt'>, at: Date): Promise<void>;
    /** @returns false if the viewer does not exist */
    remove(accessKey: string): Promise<boolean>;
  };
  readonly clients: {
    list(): Promise<readonly Client[]>;
    findByAccessKey(accessKey: string): Promise<Client | undefined>;
    /** Adds a client whose secret is not handed over yet, and removes earlier ones in that state. */
    addPending(client: Pick<Client, 'id' | 'accessKey' | 'secretDigest'>, at: Date): Promise<void>;
    /** Rejects if the client does not exist: then the secret that was handed over does not work. */
    markHandedOver(id: string): Promise<void>;
    /** Adds a client whose secret is handed over. */
    add(client: NewClient, at: Date): Promise<void>;
    /** Changes what an operator may change. @returns false if the client does not exist */
    change(
      accessKey: string,
      change: Partial<
        Pick<Client, 'secretDigest' | 'name' | 'disabled' | 'quota' | 'expiresAt' | 'certificates' | 'algorithms'>
      >,
    ): Promise<boolean>;
  };
  readonly certificates: {
    list(): Promise<readonly StoredCertificate[]>;
    find(number: string): Promise<StoredCertificate | undefined>;
    /** @returns false where the number is taken */
    add(certificate: IssuedCertificate, at: Date): Promise<boolean>;
    /** Gives a number another certificate of the same key. @returns false if no certificate of this key has the number */
    renew(certificate: IssuedCertificate): Promise<boolean>;
    /** Takes it out of use, or back into it. @returns false if the number does not exist */
    disable(number: string, disabled: boolean): Promise<boolean>;
  };
  /** Keys whose certificate another authority is to make. */
  readonly certificateRequests: {
    find(number: string): Promise<CertificateRequest | undefined>;
    /** @returns false where the number is taken by another request */
    add(request: CertificateRequest, at: Date): Promise<boolean>;
    remove(number: string): Promise<void>;
  };
  readonly authorities: {
    get(purpose: AuthorityPurpose): Promise<StoredAuthority | undefined>;
    /**
     * Replaces an authority (undefined: none exists yet), unless another server was faster.
     * @returns the one that is stored then
     */
    replace(
      purpose: AuthorityPurpose,
      before: StoredAuthority | undefined,
      authority: StoredAuthority,
    ): Promise<StoredAuthority>;
  };
  /** The first of the three steps in which a signature is counted; the second is the HSM's, the third `records.add`. */
  readonly quota: {
    /** Keeps a place of the client's quota, durably. @returns false where none is left */
    reserve(lease: Lease, now: Date): Promise<boolean>;
    /**
     * Gives the place back immediately: nothing was signed, or no client got it. Afterwards no record is counted in it, also
     * not by a call of `records.add` that failed before and whose statement still reaches the database.
     * @returns false where one was counted in it before: then nothing is done
     */
    release(lease: Lease): Promise<boolean>;
    /** Gives back the places whose leases have expired. @returns how many */
    giveBackExpired(now: Date): Promise<number>;
  };
  readonly records: {
    /**
     * Stores the record and counts it for its client in the place of the lease, both or neither, durably.
     * @returns false where the lease had expired and its place was needed for another: then neither is done
     */
    add(record: Omit<SignatureRecord, 'counted' | 'report'>, lease: Lease): Promise<boolean>;
    find(id: string): Promise<SignatureRecord | undefined>;
    /**
     * Looks at the next so many records, and gives those that fit: whatever is looked for, no call takes longer than
     * that, since signatures wait for the same database.
     */
    search(
      filter: SearchFilter,
      from: {
        readonly order: 'oldest first' | 'newest first';
        readonly size: number;
        readonly after?: Position | undefined;
      },
    ): Promise<Batch>;
    /** Removes the oldest records that were signed before a time; what is counted stays. @param most records of one call, since signatures wait for it @returns how many */
    prune(before: Date, most: number): Promise<number>;
    /** How many were signed since then and before the other time, by day and by what became of them. */
    perDay(since: Date, until: Date): Promise<readonly DayCount[]>;
    /** Takes a count back whose answer never went out; does nothing the second time. */
    uncount(id: string): Promise<void>;
    /** Stores a report for this client's record; the latest one counts. @returns the record, or undefined if the client has no record with this id */
    report(id: string, clientId: string, status: ReportStatus, at: Date): Promise<SignatureRecord | undefined>;
  };
  /** Rejects where the database does not answer, or cannot store as much as a signature needs. */
  check(): Promise<void>;
  close(): Promise<void>;
}
