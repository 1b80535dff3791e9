/** The PKI of make-pki.sh and the authority of tsa.mjs, with what they lack: an authority under an untrusted root. */

import { spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { endWithThisProcess } from '../../support/children.ts';
import { copyOfMadeOnce } from '../../support/made-once.ts';
import { STORE_PASSWORD } from '../../support/programs/java.ts';
import { listening } from '../../support/services/server.ts';
import { must } from '../interop/verifiers.ts';

/** How an authority answers: a path of tsa.mjs, or `foreign`, which is another authority. */
export type TimestampMode = 'ok' | (typeof MODES)[number];

export type VerdictPki = Awaited<ReturnType<typeof startVerdictPki>>;

/** `verifiers`: the folder that has make-pki.sh and tsa.mjs. */
export async function startVerdictPki(folder: string, verifiers: string) {
  await copyOfMadeOnce('verifiers-pki', folder, async (made) => {
    await must('bash', [path.join(verifiers, 'make-pki.sh'), made]);
  });
  const configuration = path.join(folder, 'tsa.cnf');
  writeFileSync(configuration, withSerial(configuration, path.join(folder, 'tsaserial')));
  const foreign = await makeForeignAuthority(folder);
  await makeMoreBad(folder);
  const authorities = await Promise.all([folder, foreign].map((pki) => startAuthority(pki, verifiers)));
  return {
    folder,
    /** Path of the one trusted root, PEM. */
    root: path.join(folder, 'root.crt'),
    /** The URL of a timestamp authority that answers in this mode. */
    timestampUrl: (mode: TimestampMode) =>
      mode === 'foreign' ? `${authorities[1]?.url}/m/ok` : `${authorities[0]?.url}/m/${mode}`,
    stop: () => {
      for (const { child } of authorities) child.kill();
    },
  };
}

/** The configuration of an authority, with another file for the last serial number. */
function withSerial(configuration: string, serial: string): string {
  return readFileSync(configuration, 'utf8').replace(/^serial=.*$/m, `serial=${serial}`);
}

/** In the shape that tsa.mjs reads, below the root of the PKI's stranger. @returns its folder */
async function makeForeignAuthority(pki: string): Promise<string> {
  const folder = path.join(pki, 'foreign');
  mkdirSync(folder);
  const inFolder = (name: string) => path.join(folder, name);
  const from = (name: string) => path.join(pki, name);
  await certify(pki, { name: 'foreign/tsa', subject: '/C=XX/O=Other/CN=Other TSA', issuer: 'evil', extensions: 'tsa' });
  copyFileSync(from('evil.crt'), inFolder('root.crt'));
  writeFileSync(inFolder('tsa.cnf'), withSerial(from('tsa.cnf'), inFolder('serial')));
  writeFileSync(inFolder('serial'), '1000\n');
  return folder;
}

const PSS = ['-sigopt', 'rsa_padding_mode:pss'];

/**
 * Issued by a leaf, by a CA below one that may have none below it, and for a time to come; with a short EC key, and with
 * signatures by RSASSA-PSS.
 */
async function makeMoreBad(pki: string): Promise<void> {
  const subject = (commonName: string) => `/C=XX/O=Corpus/CN=${commonName}`;
  const make = async (name: string, issuer: string, above: readonly string[], how: CertifyOptions = {}) => {
    await certify(pki, { name, subject: subject(name), issuer, extensions: 'cs', ...how });
    const pem = (each: string) => readFileSync(path.join(pki, `${each}.crt`), 'utf8');
    writeFileSync(path.join(pki, `${name}.chain.pem`), [name, ...above].map(pem).join(''));
    writeFileSync(path.join(pki, 'above.pem'), [...above, 'root'].map(pem).join(''));
    await makeKeystore(pki, name, name, ['-certfile', path.join(pki, 'above.pem')]);
  };
  await certify(pki, { name: 'subca', subject: subject('Sub CA'), issuer: 'ica', extensions: 'ica' });
  await make('leafofleaf', 'leaf2048', ['leaf2048', 'ica']);
  await make('leafofsubca', 'subca', ['subca', 'ica']);
  await make('leafnotyet', 'ica', ['ica'], { faketime: '2036-01-01 00:00:00' });
  await make('leafec192', 'ica', ['ica'], { curve: 'prime192v1' });
  await make('leafpss', 'ica', ['ica'], { signing: PSS });
  await make('leafpssmask', 'ica', ['ica'], { signing: [...PSS, '-sigopt', 'rsa_mgf1_md:sha1'] });
  await makeKeystore(pki, 'leaf2048', 'leaf2048-alone', []);
}

interface CertifyOptions {
  /** When it is issued; now when left out. */
  readonly faketime?: string;
  /** Of an EC key; RSA when left out. */
  readonly curve?: string;
  /** More arguments for the issuer's signature. */
  readonly signing?: readonly string[];
}

interface Certificate extends CertifyOptions {
  readonly name: string;
  readonly subject: string;
  readonly issuer: string;
  /** A section of make-pki.sh's configuration. */
  readonly extensions: string;
}

/** NAME.key and NAME.crt. */
async function certify(pki: string, certificate: Certificate): Promise<void> {
  const { name, subject, issuer, extensions, faketime, curve, signing = [] } = certificate;
  const file = (of: string) => path.join(pki, of);
  const kind =
    curve === undefined
      ? ['RSA', '-pkeyopt', 'rsa_keygen_bits:2048']
      : ['EC', '-pkeyopt', `ec_paramgen_curve:${curve}`];
  await must('openssl', ['genpkey', '-algorithm', ...kind, '-out', file(`${name}.key`)]);
  const request = ['-new', '-key', file(`${name}.key`), '-subj', subject, '-out', file(`${name}.csr`)];
  await must('openssl', ['req', ...request]);
  const by = ['-CA', file(`${issuer}.crt`), '-CAkey', file(`${issuer}.key`), '-set_serial', `0x40${name.length}711`];
  const what = ['-extfile', file('ext.cnf'), '-extensions', extensions, '-days', '1000', '-sha256', ...signing];
  const all = ['x509', '-req', '-in', file(`${name}.csr`), ...by, ...what, '-out', file(`${name}.crt`)];
  await (faketime === undefined ? must('openssl', all) : must('faketime', [faketime, 'openssl', ...all]));
}

/** ALIAS.p12 with the key and certificate of that name. */
async function makeKeystore(pki: string, name: string, alias: string, more: readonly string[]): Promise<void> {
  const file = (of: string) => path.join(pki, of);
  const pair = ['-inkey', file(`${name}.key`), '-in', file(`${name}.crt`), ...more];
  const store = ['-name', alias, '-passout', `pass:${STORE_PASSWORD}`, '-out', file(`${alias}.p12`)];
  await must('openssl', ['pkcs12', '-export', ...pair, ...store]);
}

async function startAuthority(pki: string, verifiers: string) {
  const args = [path.join(verifiers, 'tsa.mjs'), '--port', '0', '--pki', pki];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  endWithThisProcess(child);
  return { child, url: await listening(child, () => 'tsa.mjs', /listening (http:\S+)/) };
}

export interface Signing {
  /** A name of make-pki.sh, or one of those above; `leaf2048-alone` is the leaf without its issuer. */
  readonly by: string;
  readonly timestamp?: TimestampMode;
  /** SHA256 when left out. */
  readonly digest?: 'md5' | 'sha1' | 'sha384' | 'sha512';
}

const GOOD = ['leaf2048', 'leaf3072', 'leaf4096', 'leafec256', 'leafec384', 'leafec521'];
const BAD = [
  'leafexp',
  'leafnoeku',
  'evilleaf',
  'leaf2048-alone',
  'leafofleaf',
  'leafofsubca',
  'leafnotyet',
  'leafpss',
  'leafpssmask',
];
/** `replay` comes last: it gives the token that another signature got. */
const MODES = ['expired', 'past2024', 'future', 'corrupt', 'badimprint', 'badnonce', 'foreign', 'replay'] as const;

/** By every certificate, and with every token for a good and for an expired one. */
export const SIGNINGS: readonly Signing[] = [
  ...[...GOOD, ...BAD].map((by) => ({ by })),
  ...(['md5', 'sha1', 'sha384', 'sha512'] as const).map((digest) => ({ by: 'leaf2048', digest })),
  ...['leaf2048', 'leafexp', 'leafnoeku', 'evilleaf', 'leafec256'].map((by) => ({ by, timestamp: 'ok' as const })),
  ...MODES.flatMap((timestamp) => ['leaf2048', 'leafexp'].map((by) => ({ by, timestamp }))),
];

/** `leafexp+past2024.exe`, say. */
export function nameOf({ by, timestamp, digest }: Signing, extension: string): string {
  return `${[by, timestamp, digest].filter((part) => part !== undefined).join('+')}${extension}`;
}
