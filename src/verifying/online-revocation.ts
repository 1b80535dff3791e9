/**
 * Requests the revocation status of a certificate from the addresses that it contains: OCSP responders first, then
 * CRLs.
 */

import { memoize } from '../bytes/reuse.ts';
import type { ParsedCertificate } from '../certificates/certificate.ts';
import { type Crl, readCrls } from '../certificates/revocation/crl.ts';
import { buildOcspRequest, statusByOcsp } from '../certificates/revocation/ocsp.ts';
import { crlAddressesOf, ocspAddressesOf } from '../certificates/revocation/sources.ts';
import { combineStatuses, type RevocationStatus, unknownBecause } from '../certificates/revocation/status.ts';
import { expectedError } from '../errors/codesign-error.ts';
import type { Http } from '../http/http.ts';
import type { Outcome } from '../http/request.ts';
import { withoutDenseRuns } from '../secrets/foreign-text.ts';

export interface CertificateToCheck {
  readonly certificate: ParsedCertificate;
  readonly issuer: ParsedCertificate;
  /**
   * Certificates of the issuer that contain other keys. A list that was signed with one of these keys can show only
   * that a certificate is revoked.
   */
  readonly otherKeys: readonly ParsedCertificate[];
}

export type AskOnline = (asked: CertificateToCheck) => Promise<readonly RevocationStatus[]>;

export interface OnlineOptions {
  readonly http: Pick<Http, 'get' | 'post'>;
  readonly now: Date;
  readonly deadlineMilliseconds: number;
  readonly byCrl: (crl: Crl, asked: CertificateToCheck) => RevocationStatus;
}

const MAX_CRL_LENGTH = 32 * 1024 * 1024;
const MAX_OCSP_LENGTH = 64 * 1024;
/**
 * For one certificate, the number of addresses of each kind that are tried. Real certificates contain one or two
 * addresses.
 */
const MAX_ADDRESSES = 3;
/**
 * Number of CRLs in the cache, whether valid or invalid. The cache ensures that a run requests each address only once.
 */
const MAX_REMEMBERED_CRLS = 20;

/** Sends nothing except the OCSP request, which contains digests of the issuer's name and key, and a serial number. */
export function askOnline(options: OnlineOptions): AskOnline {
  const crlsAt = memoize(MAX_REMEMBERED_CRLS, String, (url: URL) => fetchCrls(url, options));
  return async (asked) => {
    const { fields } = asked.certificate;
    const reasons: string[] = [];
    const responders = usableAddresses(() => ocspAddressesOf(fields), reasons);
    const lists = usableAddresses(() => crlAddressesOf(fields), reasons);
    const statuses: RevocationStatus[] = reasons.map(unknownBecause);
    for (const url of responders) statuses.push(await askResponder(url, asked, options));
    for (const url of lists) {
      if (combineStatuses(statuses).kind !== 'unknown') break;
      for (const status of await askList(url, asked, options, crlsAt)) statuses.push(status);
    }
    return statuses.length === 0 ? [unknownBecause('it contains no address of a CRL or an OCSP responder')] : statuses;
  };
}

type CrlsAt = (url: URL) => Promise<readonly Crl[] | string>;

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
  if (typeof answer === 'string') return unknown(url, answer);
  const status = statusByOcsp(answer, asked.certificate, asked.issuer, now);
  return status.kind === 'unknown' ? unknown(url, status.why) : status;
}

async function askList(
  url: URL,
  asked: CertificateToCheck,
  options: OnlineOptions,
  crlsAt: CrlsAt,
): Promise<RevocationStatus[]> {
  const crls = await crlsAt(url);
  if (typeof crls === 'string') return [unknown(url, crls)];
  return crls.map((crl) => {
    const status = options.byCrl(crl, asked);
    return status.kind === 'unknown' ? unknown(url, status.why) : status;
  });
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

function unknown(url: URL, why: string): RevocationStatus {
  return unknownBecause(`${url.href}: ${why}`);
}
