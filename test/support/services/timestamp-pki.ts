/** The certificates of the tests' timestamp authority, good ones and bad ones, made by the openssl program: two keys for all. */

import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { copyOfMadeOnce } from '../made-once.ts';
import { rsaKey } from '../signed-files/rsa-keys.ts';

/** `folder` holds `NAME.crt` for each certificate, `tsa.key` for all of them but the root, and `root.crt`. */
export type TimestampPki = Awaited<ReturnType<typeof makeTimestampPki>>;

const STAMPING = 'critical,timeStamping';
/** Serial number, year in which it ends, and extendedKeyUsage. `twin` has the same name and serial number as `tsa`. */
const CERTIFICATES = {
  tsa: ['1001', 2045, STAMPING],
  twin: ['1001', 2044, STAMPING],
  expired: ['1002', 2025, STAMPING],
  uncritical: ['1003', 2045, 'timeStamping'],
  several: ['1004', 2045, 'critical,timeStamping,codeSigning'],
  signer: ['1005', 2045, 'critical,codeSigning'],
} as const;
export type TimestampCertificate = keyof typeof CERTIFICATES;
/** As early as what is stamped in tests. */
const START = '20200101000000Z';

const run = promisify(execFile);
/** Authorities in a process that have their own keys and certificates: no test has more at the same time. */
const DIFFERENT_AUTHORITIES = 3;
let authorities = 0;

export async function makeTimestampPki(folder: string) {
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
  const certify = async (name: string, csr: string, serial: string, year: number, issuer: string[]): Promise<void> => {
    const books = path.join(folder, `ca-${name}`);
    await mkdir(books);
    await writeFile(path.join(books, 'index.txt'), '');
    await writeFile(path.join(books, 'serial'), `${serial}\n`);
    const args = ['-batch', '-notext', '-config', '../ca.cnf', '-startdate', START, '-enddate', `${year}0101000000Z`];
    const names = ['-in', `../${csr}.csr`, '-extensions', name, '-out', `../${name}.crt`];
    await run('openssl', ['ca', ...args, ...names, ...issuer], { cwd: books });
  };
  await certify('root', 'root', '0100', 2045, ['-selfsign', '-keyfile', '../root.key']);
  const issuer = ['-cert', '../root.crt', '-keyfile', '../root.key'];
  const all = Object.entries(CERTIFICATES);
  await Promise.all(all.map(([name, [serial, year]]) => certify(name, 'tsa', serial, year, issuer)));
}

function caConfiguration(): string {
  const sections = Object.entries(CERTIFICATES).map(
    ([name, [, , purposes]]) => `[${name}]
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
