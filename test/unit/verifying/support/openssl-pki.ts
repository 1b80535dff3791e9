/** Certificates, CRLs and OCSP answers, good and bad, made by the openssl program. */

import { generateKeyPairSync, type KeyObject, randomBytes, X509Certificate } from 'node:crypto';
import { type ParsedCertificate, parseCertificate } from '../../../../src/certificates/certificate.ts';
import { openssl } from '../../../support/programs/openssl.ts';

export interface Made {
  readonly parsed: ParsedCertificate;
  readonly der: Uint8Array;
  readonly pem: string;
  readonly key: KeyObject;
}

export interface MakeRequest {
  /** A common name, or several attributes such as "/C=DE/CN=Name". */
  readonly subject: string;
  /** Default: self-signed. */
  readonly issuer?: Made;
  /** Default: SIGNER, and AUTHORITY for a self-signed certificate. A certificate of version 1 has none. */
  readonly extensions?: readonly string[];
  /** More sections of the configuration, which extensions refer to. */
  readonly sections?: string;
  /** Default: a new key. */
  readonly key?: KeyObject;
  readonly from?: string;
  readonly to?: string;
  readonly digest?: string;
  /** Hexadecimal, an even number of digits. */
  readonly serial?: string;
  /** More arguments of `openssl ca`. */
  readonly args?: readonly string[];
}

export const AUTHORITY = ['basicConstraints=critical,CA:TRUE', 'keyUsage=critical,keyCertSign,cRLSign'];
export const SIGNER = ['keyUsage=critical,digitalSignature', 'extendedKeyUsage=codeSigning'];
export const TIME_STAMPER = ['keyUsage=critical,digitalSignature', 'extendedKeyUsage=critical,timeStamping'];

const pemOf = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString();
const newKey = () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;

/** Valid from 2020 to 2040 unless told otherwise; times as `20200101000000Z`. */
export function make(request: MakeRequest): Made {
  const { subject, issuer, from = '20200101000000Z', to = '20400101000000Z', digest = 'sha256', args = [] } = request;
  const { key = newKey(), sections = '' } = request;
  const extensions = request.extensions ?? (issuer === undefined ? AUTHORITY : SIGNER);
  const own = extensions.length === 0 ? [] : ['subjectKeyIdentifier=hash', ...extensions];
  const files = {
    'own.key': pemOf(key),
    'index.txt': '',
    serial: request.serial ?? randomBytes(8).toString('hex'),
    'ca.cnf': configuration(digest, ['[extensions]', ...own, sections]),
    ...(issuer && { 'issuer.pem': issuer.pem, 'issuer.key': pemOf(issuer.key) }),
  };
  const name = subject.startsWith('/') ? subject : `/CN=${subject}`;
  const csr = openssl(['req', '-new', '-utf8', '-config', 'ca.cnf', '-key', 'own.key', '-subj', name], files);
  const by = issuer ? ['-cert', 'issuer.pem', '-keyfile', 'issuer.key'] : ['-selfsign', '-keyfile', 'own.key'];
  const what = own.length === 0 ? [] : ['-extensions', 'extensions'];
  const command = ['ca', '-batch', '-notext', '-config', 'ca.cnf', '-in', 'own.csr', ...by, ...what];
  const pem = openssl([...command, '-startdate', from, '-enddate', to, ...args], {
    ...files,
    'own.csr': csr,
  }).toString();
  const der = new Uint8Array(new X509Certificate(pem).raw);
  return { parsed: parseCertificate(der, 'made'), der, pem, key };
}

function configuration(digest: string, sections: readonly string[]): string {
  return `
[ca]
default_ca=own
[own]
database=index.txt
new_certs_dir=.
serial=serial
crlnumber=crlnumber
default_md=${digest}
policy=any
[any]
countryName=optional
organizationName=optional
commonName=optional
emailAddress=optional
[req]
distinguished_name=none
[none]
${sections.join('\n')}
`;
}

export interface RevokedEntry {
  readonly certificate: Made;
  /** `200101000000Z` */
  readonly date: string;
  /** As openssl's index.txt has it: `keyCompromise`, `keyTime,20200101000000Z`, … */
  readonly reason?: string | undefined;
}

export interface CrlRequest {
  readonly issuer: Made;
  readonly revoked?: readonly RevokedEntry[];
  /** `20260101000000Z` */
  readonly from?: string;
  readonly to?: string;
  readonly extensions?: readonly string[];
  readonly sections?: string;
  /** `default` for keys that have their own. */
  readonly digest?: string;
  readonly args?: readonly string[];
}

/** DER. */
export function makeCrl(request: CrlRequest): Buffer {
  const { issuer, revoked = [], from = '20260101000000Z', to = '20270101000000Z', args = [] } = request;
  const { extensions = [], sections = '', digest = 'sha256' } = request;
  const files = {
    'issuer.pem': issuer.pem,
    'issuer.key': pemOf(issuer.key),
    'index.txt': indexOf(revoked),
    crlnumber: '01\n',
    'ca.cnf': configuration(digest, ['[crl]', ...extensions, sections]),
  };
  const command = ['ca', '-gencrl', '-config', 'ca.cnf', '-cert', 'issuer.pem', '-keyfile', 'issuer.key'];
  const times = ['-crl_lastupdate', from, '-crl_nextupdate', to];
  const pem = openssl([...command, ...times, ...args, ...(extensions.length === 0 ? [] : ['-crlexts', 'crl'])], files);
  return Buffer.from(pem.toString().replace(/-----.*-----/g, ''), 'base64');
}

function indexOf(revoked: readonly RevokedEntry[], good: readonly Made[] = []): string {
  const lineOf = (state: string, revocation: string, { parsed }: Made) =>
    `${state}\t400101000000Z\t${revocation}\t${parsed.x509.serialNumber}\tunknown\t/CN=any\n`;
  return [
    ...good.map((certificate) => lineOf('V', '', certificate)),
    ...revoked.map(({ certificate, date, reason }) =>
      lineOf('R', reason === undefined ? date : `${date},${reason}`, certificate),
    ),
  ].join('');
}

export interface OcspRequest {
  readonly request: Uint8Array;
  readonly authority: Made;
  /** Signs the answer; the authority itself when left out. */
  readonly responder?: Made;
  readonly known?: readonly Made[];
  readonly revoked?: readonly RevokedEntry[];
  readonly args?: readonly string[];
}

/** The answer of `openssl ocsp`, DER. */
export function answerOcsp(options: OcspRequest): Buffer {
  const { request, authority, responder = authority, known = [], revoked = [], args = [] } = options;
  const files = {
    'request.der': request,
    'ca.pem': authority.pem,
    'responder.pem': responder.pem,
    'responder.key': pemOf(responder.key),
    'index.txt': indexOf(revoked, known),
  };
  const by = ['-CA', 'ca.pem', '-rsigner', 'responder.pem', '-rkey', 'responder.key', '-ndays', '7'];
  const command = ['ocsp', '-index', 'index.txt', ...by, '-reqin', 'request.der', '-respout', 'answer', ...args];
  return openssl(command, files, 'answer');
}
