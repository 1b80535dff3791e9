/** Certificates, CRLs and OCSP answers, good and bad, made by the openssl program. */

import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  contextConstructed,
  encode,
  objectIdentifier,
  sequence,
  setOf,
  smallInteger,
} from '../../../../src/asn1/write.ts';
import { type ParsedCertificate, parseCertificate } from '../../../../src/certificates/certificate.ts';
import { openssl } from '../../../support/programs/openssl.ts';
import { pemBlock, signatureAlgorithm } from '../../../support/signed-files/pki.ts';
import { rsaKey } from '../../../support/signed-files/rsa-keys.ts';

export interface Made {
  readonly parsed: ParsedCertificate;
  readonly der: Uint8Array;
  readonly pem: string;
  /** PEM of the private key. */
  readonly key: string;
}

export interface MakeRequest {
  /** A common name, or several attributes such as "/C=DE/CN=Name". */
  readonly subject: string;
  /** Default: self-signed. */
  readonly issuer?: Made;
  /** Default: SIGNER, and AUTHORITY for a self-signed certificate. */
  readonly extensions?: readonly string[];
  /** More sections of the configuration, which extensions refer to. */
  readonly sections?: string;
  readonly key?: string;
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

export function newKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

export function newEd25519Key(): string {
  return generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** The same one each time. */
export function oneRsaKey(bits: number): string {
  return rsaKey(bits, '').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** Valid from 2020 to 2040 unless told otherwise; times as `20200101000000Z`. */
export function make(request: MakeRequest): Made {
  const { issuer, key = newKey(), from = '20200101000000Z', to = '20400101000000Z', digest = 'sha256' } = request;
  const extensions = request.extensions ?? (issuer === undefined ? AUTHORITY : SIGNER);
  const files = {
    'own.key': key,
    'index.txt': '',
    'ca.cnf': configuration(digest, ['subjectKeyIdentifier=hash', ...extensions], request.sections ?? ''),
    ...(request.serial === undefined ? {} : { serial: request.serial }),
    ...(issuer === undefined ? {} : { 'issuer.pem': issuer.pem, 'issuer.key': issuer.key }),
  };
  const signer = issuer ? ['-cert', 'issuer.pem', '-keyfile', 'issuer.key'] : ['-selfsign', '-keyfile', 'own.key'];
  const serial = request.serial === undefined ? ['-rand_serial'] : [];
  const pem = openssl(
    ['ca', '-batch', '-notext', '-config', 'ca.cnf', '-in', 'own.csr', '-startdate', from, '-enddate', to].concat(
      signer,
      serial,
      request.args ?? [],
    ),
    { ...files, 'own.csr': signingRequest(request.subject, key) },
  ).toString();
  const der = new Uint8Array(new X509Certificate(pem).raw);
  return { parsed: parseCertificate(der, 'made'), der, pem, key };
}

const SUBJECT_ATTRIBUTES: Readonly<Record<string, readonly [oid: string, tag: number]>> = {
  C: ['2.5.4.6', 0x13],
  O: ['2.5.4.10', 0x0c],
  CN: ['2.5.4.3', 0x0c],
  emailAddress: ['1.2.840.113549.1.9.1', 0x16],
};

/** A request for a certificate (PKCS#10), PEM: made here, because one process for each certificate is enough. */
function signingRequest(subject: string, key: string): string {
  const names = (subject.startsWith('/') ? subject : `/CN=${subject}`).slice(1).split('/');
  const attributes = names.map((name) => {
    const [type = '', text = ''] = name.split('=');
    const [oid, tag] = SUBJECT_ATTRIBUTES[type] ?? [];
    if (oid === undefined || tag === undefined) throw new Error(`the subject has an unknown attribute: ${subject}`);
    return setOf(sequence(objectIdentifier(oid), encode(tag, Buffer.from(text))));
  });
  const privateKey = createPrivateKey(key);
  const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
  const body = sequence(smallInteger(0), sequence(...attributes), publicKey, contextConstructed(0));
  const { identifier, digest } = signatureAlgorithm(privateKey);
  const signature = encode(0x03, Uint8Array.of(0), sign(digest, body, privateKey));
  return pemBlock('CERTIFICATE REQUEST', sequence(body, identifier, signature));
}

function configuration(digest: string, extensions: readonly string[], sections: string): string {
  return `
[ca]
default_ca=own
[own]
database=index.txt
new_certs_dir=.
serial=serial
crlnumber=crlnumber
default_md=${digest}
default_crl_days=30
policy=any
unique_subject=no
preserve=yes
x509_extensions=extensions
[any]
countryName=optional
organizationName=optional
organizationalUnitName=optional
commonName=optional
emailAddress=optional
[req]
distinguished_name=empty
[empty]
[extensions]
${extensions.join('\n')}
${sections}
`;
}

export interface RevokedEntry {
  readonly certificate: Made;
  /** `200101000000Z` */
  readonly date: string;
  /** As openssl's index.txt has it: `keyCompromise`, `keyTime,20200101000000Z`, … */
  readonly reason?: string;
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

/** PEM, by `openssl ca -gencrl`. */
export function makeCrl(request: CrlRequest): string {
  const { issuer, revoked = [], from = '20260101000000Z', to = '20270101000000Z', args = [] } = request;
  const index = revoked.map((entry) => `${indexLine(entry)}\n`).join('');
  const extensions = request.extensions === undefined ? [] : ['-crlexts', 'crl'];
  const sections = `[crl]\n${(request.extensions ?? []).join('\n')}\n${request.sections ?? ''}`;
  const files = {
    'issuer.pem': issuer.pem,
    'issuer.key': issuer.key,
    'index.txt': index,
    crlnumber: '01\n',
    'ca.cnf': configuration(request.digest ?? 'sha256', [], sections),
  };
  return openssl(
    ['ca', '-gencrl', '-config', 'ca.cnf', '-cert', 'issuer.pem', '-keyfile', 'issuer.key'].concat(
      ['-crl_lastupdate', from, '-crl_nextupdate', to],
      args,
      extensions,
    ),
    files,
  ).toString();
}

function indexLine({ certificate, date, reason }: RevokedEntry): string {
  const revocation = reason === undefined ? date : `${date},${reason}`;
  return `R\t400101000000Z\t${revocation}\t${certificate.parsed.x509.serialNumber}\tunknown\t/CN=any`;
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
export function answerOcsp(options: OcspRequest): Uint8Array {
  const { request, authority, responder = authority, known = [], revoked = [], args = [] } = options;
  const good = known.map(({ parsed }) => `V\t400101000000Z\t\t${parsed.x509.serialNumber}\tunknown\t/CN=any`);
  const files = {
    'request.der': request,
    'ca.pem': authority.pem,
    'responder.pem': responder.pem,
    'responder.key': responder.key,
    'index.txt': [...good, ...revoked.map(indexLine)].map((line) => `${line}\n`).join(''),
  };
  return opensslFile(
    ['ocsp', '-index', 'index.txt', '-CA', 'ca.pem', '-rsigner', 'responder.pem', '-rkey', 'responder.key'].concat(
      ['-reqin', 'request.der', '-ndays', '7'],
      args,
    ),
    '-respout',
    files,
  );
}

/** What openssl writes to the file that `option` names: not every command writes to standard output. */
export function opensslFile(
  args: readonly string[],
  option: string,
  files: Readonly<Record<string, string | Uint8Array>>,
): Buffer {
  const folder = mkdtempSync(path.join(tmpdir(), 'codesign-openssl-'));
  const out = path.join(folder, 'out');
  try {
    openssl([...args, option, out], files);
    return readFileSync(out);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
