/** Asks the addresses in a certificate whether it was revoked: its OCSP responders first, then its CRLs. */

import type { Crl } from '../certificates/crl.ts';
import { judgeOcspAnswer } from '../certificates/judge-ocsp.ts';
import { buildOcspRequest } from '../certificates/ocsp-request.ts';
import type { ParsedCertificate } from '../certificates/parsed-certificate.ts';
import { readCrls } from '../certificates/read-crls.ts';
import { crlAddressesOf, ocspAddressesOf } from '../certificates/revocation-sources.ts';
import type { RevocationStatus } from '../certificates/revocation-status.ts';
import { CodesignError } from '../errors/codesign-error.ts';
import type { Outcome } from '../http/exchange.ts';
import type { Http } from '../http/http.ts';
import { remembering } from './remembering.ts';

/** A certificate, and who issued it. */
export interface Asked {
  readonly certificate: ParsedCertificate;
  readonly issuer: ParsedCertificate;
}

export type AskOnline = (asked: Asked) => Promise<RevocationStatus>;

export interface OnlineOptions {
  readonly http: Pick<Http, 'get' | 'post'>;
  readonly now: Date;
  /** For each request. */
  readonly deadlineMilliseconds: number;
  readonly byCrl: (crl: Crl, asked: Asked) => RevocationStatus;
}

const MAX_CRL_LENGTH = 32 * 1024 * 1024;
const MAX_OCSP_LENGTH = 64 * 1024;
/** Addresses of each kind asked for one certificate: real ones have one, or two. */
const MAX_ADDRESSES = 3;
/** CRLs kept, good or not, so that an address is asked once in a run. */
const MAX_REMEMBERED_CRLS = 20;

/** Nothing is sent but the OCSP request: a name and a key by their digests, and a serial number. */
export function askOnline(options: OnlineOptions): AskOnline {
  const crlsAt = remembering(MAX_REMEMBERED_CRLS, String, (url: URL) => fetchCrls(url, options));
  return async (asked) => {
    const reasons: string[] = [];
    for (const ask of waysOf(asked, options, crlsAt, reasons)) {
      const status = await ask();
      if (status.kind !== 'unknown') return status;
      reasons.push(status.why);
    }
    return { kind: 'unknown', why: reasons.length === 0 ? 'it names no address to ask' : reasons.join('; ') };
  };
}

type CrlsAt = (url: URL) => Promise<readonly Crl[] | string>;

/** What can be asked, in order. Addresses that cannot be asked are told in `reasons`. */
function waysOf(
  asked: Asked,
  options: OnlineOptions,
  crlsAt: CrlsAt,
  reasons: string[],
): readonly (() => Promise<RevocationStatus>)[] {
  const { fields } = asked.certificate;
  const responders = usableAddresses(() => ocspAddressesOf(fields), reasons);
  const lists = usableAddresses(() => crlAddressesOf(fields), reasons);
  return [
    ...responders.map((url) => () => askResponder(url, asked, options)),
    ...lists.map((url) => () => askList(url, asked, options, crlsAt)),
  ];
}

function usableAddresses(read: () => readonly string[], reasons: string[]): URL[] {
  try {
    return read()
      .slice(0, MAX_ADDRESSES)
      .flatMap((address) => {
        const url = URL.canParse(address) ? new URL(address) : undefined;
        const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:';
        if (url !== undefined && isWeb && url.username === '' && url.password === '') return [url];
        reasons.push(`${address}: not an address of http: or https:`);
        return [];
      });
  } catch (thrown) {
    if (!(thrown instanceof CodesignError)) throw thrown;
    reasons.push(thrown.message);
    return [];
  }
}

async function askResponder(url: URL, asked: Asked, options: OnlineOptions): Promise<RevocationStatus> {
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
  const status = judgeOcspAnswer(answer, asked.certificate, asked.issuer, now);
  return status.kind === 'unknown' ? unknown(url, status.why) : status;
}

async function askList(url: URL, asked: Asked, options: OnlineOptions, crlsAt: CrlsAt): Promise<RevocationStatus> {
  const crls = await crlsAt(url);
  if (typeof crls === 'string') return unknown(url, crls);
  const statuses = crls.map((crl) => options.byCrl(crl, asked));
  const [first = unknown(url, 'it holds no CRL')] = statuses;
  const known = statuses.find(({ kind }) => kind === 'revoked') ?? statuses.find(({ kind }) => kind === 'good');
  return known ?? (first.kind === 'unknown' ? unknown(url, first.why) : first);
}

async function fetchCrls(url: URL, { http, deadlineMilliseconds }: OnlineOptions): Promise<readonly Crl[] | string> {
  const accept = 'application/pkix-crl, */*;q=0.5';
  const body = bodyOf(await http.get({ url, accept, deadlineMilliseconds, sizeLimit: MAX_CRL_LENGTH }));
  return typeof body === 'string' ? body : readCrls(body);
}

/** Or what went wrong, for people. */
function bodyOf(outcome: Outcome): Uint8Array | string {
  if (outcome.kind === 'failure') return outcome.detail;
  return outcome.status === 200 ? outcome.body : `HTTP status ${outcome.status}`;
}

function unknown(url: URL, why: string): RevocationStatus {
  return { kind: 'unknown', why: `${url.href}: ${why}` };
}
