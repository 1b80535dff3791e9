/** Checks whether certificates were revoked, with the user's CRLs and the addresses in the certificates. */

import { NO_REVOCATION_AVAILABLE, TIME_STAMPING } from '../asn1/object-identifiers.ts';
import { secondOf } from '../asn1/times.ts';
import { memoize } from '../bytes/reuse.ts';
import { basicConstraintsOf, extendedKeyUsageOf, type ParsedCertificate } from '../certificates/certificate.ts';
import { type Crl, type CrlEntry, readCrls } from '../certificates/revocation/crl.ts';
import { buildOcspRequest, statusByOcsp } from '../certificates/revocation/ocsp.ts';
import { crlAddressesOf, ocspAddressesOf } from '../certificates/revocation/sources.ts';
import {
  combineStatuses,
  isCompromise,
  nameOfReason,
  type RevocationStatus,
  statusByCrl,
  unknownBecause,
} from '../certificates/revocation/status.ts';
import { fingerprintOf } from '../crypto/fingerprint.ts';
import { expectedError, orUndefined } from '../errors/codesign-error.ts';
import { type Finding, isAgainst, untrusted, warning } from '../errors/finding.ts';
import type { Http } from '../http/http.ts';
import type { Outcome } from '../http/request.ts';
import { withoutDenseRuns } from '../secrets/foreign-text.ts';

export type Revocation = ReturnType<typeof createRevocation>;

interface RevocationOptions {
  readonly crls: readonly Crl[];
  readonly http: Pick<Http, 'get' | 'post'> | undefined;
  /** Revocation responses must be valid now, even if the certificate was used long ago. */
  readonly now: Date;
  readonly deadlineMilliseconds?: number;
}

const MAX_REMEMBERED = 1000;
const DEADLINE_MILLISECONDS = 15_000;

/** Requests the status of each certificate only once in a run, even if many files contain the certificate. */
export function createRevocation(options: RevocationOptions) {
  const { crls, http, now, deadlineMilliseconds = DEADLINE_MILLISECONDS } = options;
  const byCrl = (crl: Crl, { certificate, issuer, otherKeys }: CertificateToCheck): RevocationStatus => {
    const byKeyOf = (signer: ParsedCertificate) => statusByCrl(crl, certificate, signer, now);
    // The issuer's other keys are not themselves checked for revocation. Therefore CRLs signed with these keys can show
    // only that a certificate is revoked.
    const byOthers = otherKeys.map(byKeyOf).filter(({ kind }) => kind === 'revoked');
    return combineStatuses([byKeyOf(issuer), ...byOthers]);
  };
  const online = http && askOnline({ http, now, deadlineMilliseconds, byCrl });
  const statusOf = memoize(MAX_REMEMBERED, keyOf, (asked: CertificateToCheck) =>
    findStatus(asked, crls, byCrl, online),
  );
  return {
    /** Examines a certificate that was used at the time `at`. Problems are returned as findings. */
    async examine(
      certificate: ParsedCertificate,
      issuer: ParsedCertificate,
      at: Date,
      otherKeys: readonly ParsedCertificate[] = [],
    ): Promise<readonly Finding[]> {
      const status = await statusOf({ certificate, issuer, otherKeys });
      // If any source says "revoked", this applies even to a certificate with this extension.
      if (status.kind === 'unknown' && isNeverRevoked(certificate)) return [];
      return revocationFindings(status, certificate, at);
    },
  };
}

async function findStatus(
  asked: CertificateToCheck,
  crls: readonly Crl[],
  byCrl: (crl: Crl, asked: CertificateToCheck) => RevocationStatus,
  online: AskOnline | undefined,
): Promise<RevocationStatus> {
  const ofIssuer = crls.filter(({ issuerKey }) => issuerKey === asked.certificate.issuerKey);
  const fromFiles = ofIssuer.map((crl) => from('the CRL in the file', byCrl(crl, asked)));
  if (online !== undefined) return combineStatuses([...(await online(asked)), ...fromFiles]);
  if (fromFiles.length > 0) return combineStatuses(fromFiles);
  return unknownBecause(`there is no CRL of "${asked.certificate.issuerName}"`);
}

/** Adds the source to the reason why a status is unknown. */
function from(source: string, status: RevocationStatus): RevocationStatus {
  return status.kind === 'unknown' ? unknownBecause(`${source}: ${status.why}`) : status;
}

/**
 * The extension has a meaning only in an end-entity certificate (RFC 9608, section 4). `examinePath` reports damaged
 * extensions.
 */
function isNeverRevoked({ fields }: ParsedCertificate): boolean {
  return (
    fields.extensions.has(NO_REVOCATION_AVAILABLE) &&
    orUndefined(() => basicConstraintsOf(fields)?.isAuthority !== true) === true
  );
}

function keyOf({ certificate, issuer, otherKeys }: CertificateToCheck): string {
  const keys = [issuer, ...otherKeys].map(({ fields }) => fingerprintOf(fields.publicKeyInfo));
  return [fingerprintOf(certificate.der), ...keys].join(' ');
}

/** Revocation reasons unspecified, affiliationChanged, superseded and cessationOfOperation. */
const HARMLESS_TO_TIMESTAMPS: ReadonlySet<number> = new Set([0, 3, 4, 5]);

/**
 * Windows and jarsigner compare the revocation date with the time of the signature, whatever the reason for revocation.
 * Both expect the authority to set the revocation date to the day on which the key was lost. This program compares
 * these dates only if the revocation reason shows that no other party has the key. If another party may have the key,
 * no signature is trusted, because it is unknown when the key was lost.  If the key of a timestamp authority was lost,
 * anyone who has it can forge times. The tokens of that authority are not trusted, unless the revocation reason shows
 * that the key is safe (RFC 3161, section 4).
 */
function revocationFindings(status: RevocationStatus, certificate: ParsedCertificate, at: Date): Finding[] {
  const { name } = certificate;
  switch (status.kind) {
    case 'good':
      return [];
    case 'unknown': {
      const message = `The revocation status of the certificate of "${name}" is unknown: ${status.why}.`;
      return [untrusted('revocation-unknown', message)];
    }
    case 'revoked': {
      const findings = status.revoked.map((one) => findingOf(one, certificate, at));
      // Returns at most one finding: the first finding that denies trust, or, if there is none, the first finding.
      return [...findings.filter((finding) => isAgainst(finding, 'trust')), ...findings].slice(0, 1);
    }
  }
}

function findingOf(revoked: CrlEntry, certificate: ParsedCertificate, at: Date): Finding {
  const reason = nameOfReason(revoked.reason);
  const because = reason === undefined ? '' : ` (${reason})`;
  const { endsTrust, words } = consequence(revoked, certificate, at);
  const message = `The certificate of "${certificate.name}" was revoked on ${secondOf(revoked.revokedAt)}${because}${words}.`;
  return (endsTrust ? untrusted : warning)('certificate-revoked', message);
}

function consequence({ revokedAt, reason }: CrlEntry, certificate: ParsedCertificate, at: Date) {
  if (revokedAt <= at) return { endsTrust: true, words: '' };
  // `examinePath` reports damaged extensions.
  const isTimeStamper = orUndefined(() => extendedKeyUsageOf(certificate.fields))?.includes(TIME_STAMPING);
  if (isTimeStamper && !(reason !== undefined && HARMLESS_TO_TIMESTAMPS.has(reason))) {
    return { endsTrust: true, words: ', so none of its timestamps is valid any longer' };
  }
  if (isCompromise(reason)) return { endsTrust: true, words: ', so none of its signatures is valid any longer' };
  return { endsTrust: false, words: `, after it was used (${secondOf(at)})` };
}

interface CertificateToCheck {
  readonly certificate: ParsedCertificate;
  readonly issuer: ParsedCertificate;
  /**
   * Certificates of the issuer that contain other keys. A list that was signed with one of these keys can show only
   * that a certificate is revoked.
   */
  readonly otherKeys: readonly ParsedCertificate[];
}

type AskOnline = (asked: CertificateToCheck) => Promise<readonly RevocationStatus[]>;

interface OnlineOptions {
  readonly http: Pick<Http, 'get' | 'post'>;
  readonly now: Date;
  readonly deadlineMilliseconds: number;
  readonly byCrl: (crl: Crl, asked: CertificateToCheck) => RevocationStatus;
}

const MAX_CRL_LENGTH = 32 * 1024 * 1024;
const MAX_OCSP_LENGTH = 64 * 1024;
/** Real certificates contain one or two addresses of CRLs, and of OCSP responders. */
const MAX_ADDRESSES = 3;
/** CRLs are cached, whether valid or invalid, so that a run requests each address only once. */
const MAX_REMEMBERED_CRLS = 20;

/** Sends nothing except the OCSP request, which contains digests of the issuer's name and key, and a serial number. */
function askOnline(options: OnlineOptions): AskOnline {
  const crlsAt = memoize(MAX_REMEMBERED_CRLS, String, (url: URL) => fetchCrls(url, options));
  const askList = async (url: URL, asked: CertificateToCheck): Promise<RevocationStatus[]> => {
    const crls = await crlsAt(url);
    const statuses = typeof crls === 'string' ? [unknownBecause(crls)] : crls.map((crl) => options.byCrl(crl, asked));
    return statuses.map((status) => from(url.href, status));
  };
  return async (asked) => {
    const { fields } = asked.certificate;
    const reasons: string[] = [];
    const responders = usableAddresses(() => ocspAddressesOf(fields), reasons);
    const lists = usableAddresses(() => crlAddressesOf(fields), reasons);
    const statuses: RevocationStatus[] = reasons.map(unknownBecause);
    for (const url of responders) statuses.push(await askResponder(url, asked, options));
    for (const url of lists) {
      if (combineStatuses(statuses).kind !== 'unknown') break;
      for (const status of await askList(url, asked)) statuses.push(status);
    }
    return statuses.length === 0 ? [unknownBecause('it contains no address of a CRL or an OCSP responder')] : statuses;
  };
}

function usableAddresses(read: () => readonly string[], reasons: string[]): URL[] {
  try {
    return read()
      .slice(0, MAX_ADDRESSES)
      .flatMap((address) => {
        const url = URL.canParse(address) ? new URL(address) : undefined;
        const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:';
        if (url !== undefined && isWeb && url.username === '' && url.password === '') return [url];
        reasons.push(`${address}: this is not an HTTP address`);
        return [];
      });
  } catch (thrown) {
    reasons.push(expectedError(thrown).message);
    return [];
  }
}

async function askResponder(url: URL, asked: CertificateToCheck, options: OnlineOptions): Promise<RevocationStatus> {
  const { http, now, deadlineMilliseconds } = options;
  const outcome = await http.post({
    url,
    contentType: 'application/ocsp-request',
    accept: 'application/ocsp-response',
    body: buildOcspRequest(asked.certificate, asked.issuer),
    deadlineMilliseconds,
    sizeLimit: MAX_OCSP_LENGTH,
  });
  const answer = bodyOf(outcome);
  const status =
    typeof answer === 'string' ? unknownBecause(answer) : statusByOcsp(answer, asked.certificate, asked.issuer, now);
  return from(url.href, status);
}

async function fetchCrls(url: URL, { http, deadlineMilliseconds }: OnlineOptions): Promise<readonly Crl[] | string> {
  const accept = 'application/pkix-crl, */*;q=0.5';
  const body = bodyOf(await http.get({ url, accept, deadlineMilliseconds, sizeLimit: MAX_CRL_LENGTH }));
  return typeof body === 'string' ? body : readCrls(body);
}

function bodyOf(outcome: Outcome): Uint8Array | string {
  // TLS error messages quote names from the certificate of the server.
  if (outcome.kind === 'failure') return withoutDenseRuns(outcome.detail);
  return outcome.status === 200 ? outcome.body : `HTTP status ${outcome.status}`;
}
