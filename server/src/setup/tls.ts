/** The server's TLS certificate: the operator's own, or one from the server's TLS authority. */

import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import { issueFor, localIssuer } from '../certificates/authority.ts';
import { readCertificates, subjectOf, toPem } from '../certificates/x509.ts';
import { ServerError } from '../errors.ts';
import { readIfThere, replaceFile } from '../files.ts';
import { type DataFolder, readPart } from './data-folder.ts';

export interface TlsMaterial {
  readonly certificate: string;
  readonly key: string;
  readonly caFile: string | undefined;
}

const ALWAYS = ['localhost', '127.0.0.1', '::1'];
/** A certificate whose remaining validity is shorter than this is renewed at the next start. In milliseconds. */
const RENEW_BEFORE = 90 * 24 * 60 * 60 * 1000;

export async function readTls(certificate: string, key: string): Promise<TlsMaterial> {
  const pem = { certificate: await readPem('--tls-cert', certificate), key: await readPem('--tls-key', key) };
  const [leaf, ...issuers] = parsed(certificate, () => readCertificates(pem.certificate));
  if (leaf === undefined) throw unusable(certificate, new Error('it contains no PEM certificate'));
  const privateKey = parsed(key, () => createPrivateKey(pem.key));
  // OpenSSL accepts a key whose type differs from the certificate's, but then every handshake fails.
  if (!leaf.checkPrivateKey(privateKey)) {
    throw new ServerError('tls-key-mismatch', { certificate, key, subject: oneLine(leaf.subject) });
  }
  parsed(certificate, () => createSecureContext({ cert: pem.certificate, key: pem.key }));
  // A chain that ends in a self-signed certificate belongs to a private authority, so clients must be configured to
  // trust that authority.
  const last = issuers.at(-1) ?? leaf;
  return { ...pem, caFile: last.checkIssued(last) ? resolve(certificate) : undefined };
}

async function readPem(option: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new ServerError('tls-file-unreadable', { option, path }, error);
  }
}

function parsed<T>(path: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw unusable(path, error);
  }
}

function unusable(path: string, error: unknown) {
  return new ServerError('tls-files-unusable', { path }, error);
}

/**
 * Finds the certificate in a chain that expires first, because clients do not trust the chain after that time.
 * @param pem at least one certificate
 */
export function endOfValidity(pem: string) {
  const all = readCertificates(pem).map(({ subject, validFrom, validTo }) => ({
    subject: oneLine(subject),
    notBefore: new Date(validFrom),
    notAfter: new Date(validTo),
  }));
  return all.reduce((first, each) => (each.notAfter < first.notAfter ? each : first));
}

function oneLine(subject: string | undefined): string {
  return (subject ?? '').replaceAll('\n', ', ');
}

/**
 * Returns the server's own certificate, and first replaces it if it is damaged, lacks a name or expires soon.
 * @param names DNS names and IP addresses in addition to localhost
 */
export async function ownTls(folder: DataFolder, names: readonly string[], now: Date): Promise<TlsMaterial> {
  const { tls } = folder;
  const wanted = [...new Set([...ALWAYS, ...names])];
  const authority = await readParsed(folder, tls.ca, 'the certificate', (pem) => new X509Certificate(pem));
  const present = (await readIfThere(tls.server))?.toString();
  const pem = present !== undefined && stillFits(present, authority, wanted, now) ? present : undefined;
  if (pem !== undefined) return { certificate: pem, key: pem, caFile: tls.ca };

  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const authorityKey = await readParsed(folder, tls.caKey, 'the key', (keyPem) => createPrivateKey(keyPem));
  const issuer = localIssuer(subjectOf(authority.toString()), authorityKey);
  const commonName = names[0] ?? 'localhost';
  const leaf = await issueFor(issuer, 'tls-server', { commonName, publicKey, alternativeNames: wanted }, now);
  const renewed = toPem(leaf) + privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  await replaceFile(tls.server, renewed);
  return { certificate: renewed, key: renewed, caFile: tls.ca };
}

/**
 * Reads one of the TLS authority's files. Without this file, the server cannot create a certificate that clients trust.
 */
async function readParsed<T>(folder: DataFolder, path: string, part: string, parse: (pem: string) => T): Promise<T> {
  const pem = await readPart(folder, path, `${part} of its TLS authority, ${path}`);
  try {
    return parse(pem);
  } catch (error) {
    const missing = `${part} of its TLS authority (${path} is damaged)`;
    throw new ServerError('data-folder-incomplete', { path: folder.path, missing }, error);
  }
}

/**
 * Reads the certificate from a file that also contains its key. Returns undefined if either the certificate or the key
 * is damaged.
 */
function wholePair(pem: string): X509Certificate | undefined {
  try {
    const certificate = new X509Certificate(pem);
    return certificate.checkPrivateKey(createPrivateKey(pem)) ? certificate : undefined;
  } catch {
    return undefined; // the caller creates a new one
  }
}

function stillFits(pem: string, authority: X509Certificate, names: readonly string[], now: Date): boolean {
  const certificate = wholePair(pem);
  if (certificate === undefined) return false;
  const covers = (name: string) =>
    (isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name)) !== undefined;
  return (
    certificate.verify(authority.publicKey) &&
    new Date(certificate.validTo).getTime() - now.getTime() > RENEW_BEFORE &&
    names.every(covers)
  );
}
