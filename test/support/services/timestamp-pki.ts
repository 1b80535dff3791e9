/** The certificates of the tests' timestamp authority, good ones and bad ones, made by the openssl program: two keys for all. */

import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { copyOfMadeOnce } from '../made-once.ts';
import { rsaKey } from '../signed-files/rsa-keys.ts';

export interface TimestampPki {
  /** Holds `NAME.crt` for each certificate, `tsa.key` for all of them but the root, `root.crt` and `tsa.cnf`. */
  readonly folder: string;
  readonly rootPem: string;
  readonly certificatePem: string;
  certificatePemOf(name: TimestampCertificate): string;
}

/** Name of the certificate → its extendedKeyUsage. */
const CERTIFICATES = {
  tsa: 'critical,timeStamping',
  /** The same name and serial number as `tsa`. */
  twin: 'critical,timeStamping',
  expired: 'critical,timeStamping',
  uncritical: 'timeStamping',
  several: 'critical,timeStamping,codeSigning',
  signer: 'critical,codeSigning',
} as const;
export type TimestampCertificate = keyof typeof CERTIFICATES;

const SERIAL_NUMBERS: Readonly<Record<TimestampCertificate, string>> = {
  tsa: '1001',
  twin: '1001',
  expired: '1002',
  uncritical: '1003',
  several: '1004',
  signer: '1005',
};
/** As early as what is stamped in tests; all have the same length in DER. */
const START = '20200101000000Z';
const END: Readonly<Record<TimestampCertificate, string>> = {
  tsa: '20450101000000Z',
  twin: '20440101000000Z',
  expired: '20250101000000Z',
  uncritical: '20450101000000Z',
  several: '20450101000000Z',
  signer: '20450101000000Z',
};

const run = promisify(execFile);
/** Authorities in a process that have their own keys and certificates: no test has more at the same time. */
const DIFFERENT_AUTHORITIES = 3;
let authorities = 0;

export async function makeTimestampPki(folder: string): Promise<TimestampPki> {
  const number = authorities++ % DIFFERENT_AUTHORITIES;
  await copyOfMadeOnce(`timestamp-pki-${number}`, folder, (made) => makeCertificates(made, number));
  const read = (name: string) => readFile(path.join(folder, `${name}.crt`), 'utf8');
  const names = Object.keys(CERTIFICATES) as TimestampCertificate[];
  const pems = new Map(await Promise.all(names.map(async (name) => [name, await read(name)] as const)));
  const certificatePemOf = (name: TimestampCertificate): string => pems.get(name) ?? '';
  return { folder, rootPem: await read('root'), certificatePem: certificatePemOf('tsa'), certificatePemOf };
}

async function makeCertificates(folder: string, number: number): Promise<void> {
  const openssl = (...args: string[]) => run('openssl', args, { cwd: folder });
  await writeFile(path.join(folder, 'ca.cnf'), caConfiguration());
  for (const name of ['root', 'tsa']) {
    const { privateKey } = rsaKey(2048, `timestamp ${name} ${number}`);
    await writeFile(path.join(folder, `${name}.key`), privateKey.export({ type: 'pkcs8', format: 'pem' }));
  }
  const request = async (name: string, subject: string): Promise<void> => {
    await openssl('req', '-new', '-config', 'ca.cnf', '-key', `${name}.key`, '-subj', subject, '-out', `${name}.csr`);
  };
  await Promise.all([
    request('root', '/O=Test/CN=Test Timestamp Root'),
    request('tsa', '/O=Test/CN=Test Timestamp Authority'),
  ]);

  /** Only `openssl ca` accepts dates in the past. It keeps an index of certificates, so each certificate has its own folder. */
  const certify = async (name: string, csr: string, serial: string, end: string, issuer: string[]): Promise<void> => {
    const books = path.join(folder, `ca-${name}`);
    await mkdir(books);
    await writeFile(path.join(books, 'index.txt'), '');
    await writeFile(path.join(books, 'serial'), `${serial}\n`);
    const args = ['-batch', '-notext', '-config', '../ca.cnf', '-startdate', START, '-enddate', end];
    const names = ['-in', `../${csr}.csr`, '-extensions', name, '-out', `../${name}.crt`];
    await run('openssl', ['ca', ...args, ...names, ...issuer], { cwd: books });
  };
  await certify('root', 'root', '0100', END.tsa, ['-selfsign', '-keyfile', '../root.key']);
  const names = Object.keys(CERTIFICATES) as TimestampCertificate[];
  const issuer = ['-cert', '../root.crt', '-keyfile', '../root.key'];
  await Promise.all(names.map((name) => certify(name, 'tsa', SERIAL_NUMBERS[name], END[name], issuer)));
}

function caConfiguration(): string {
  const sections = Object.entries(CERTIFICATES).map(
    ([name, purposes]) => `[${name}]
basicConstraints = critical,CA:FALSE
keyUsage = critical,digitalSignature
extendedKeyUsage = ${purposes}
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
`,
  );
  return `[req]
distinguished_name = names
[names]
[ca]
default_ca = books
[books]
database = ./index.txt
serial = ./serial
new_certs_dir = .
default_md = sha256
unique_subject = no
policy = policy
[policy]
organizationName = supplied
commonName = supplied
[root]
basicConstraints = critical,CA:TRUE
keyUsage = critical,keyCertSign,cRLSign
subjectKeyIdentifier = hash
${sections.join('')}`;
}
