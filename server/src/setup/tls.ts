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
/** A start renews a certificate that expires within this time, in milliseconds. */
const RENEW_BEFORE = 90 * 24 * 60 * 60 * 1000;

export async function readTls(certificate: string, key: string): Promise<TlsMaterial> {
  const pem = { certificate: await readPem('--tls-cert', certificate), key: await readPem('--tls-key', key) };
  const [leaf, ...issuers] = parsed(certificate, () => readCertificates(pem.certificate));
  if (leaf === undefined) throw unusable(certificate, new Error('the file contains no PEM certificate'));
  const privateKey = parsed(key, () => createPrivateKey(pem.key));
  // OpenSSL accepts a key whose type differs from the certificate's, but then every handshake fails.
  if (!leaf.checkPrivateKey(privateKey)) {
    throw new ServerError('tls-key-mismatch', { certificate, key, subject: oneLine(leaf.subject) });
  }
  parsed(certificate, () => createSecureContext({ cert: pem.certificate, key: pem.key }));
  // A self-signed certificate at the end of the chain is a private authority, which clients must be configured to trust.
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

/** Returns the validity of the certificate that expires first. @param pem chain of at least one certificate */
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
 * Returns the server's own certificate. A certificate that is damaged, lacks a name or expires soon is replaced first.
 * @param names DNS names and IP addresses in addition to localhost
 */
export async function ownTls(folder: DataFolder, names: readonly string[], now: Date): Promise<TlsMaterial> {
  const { tls } = folder;
  const wanted = [...new Set([...ALWAYS, ...names])];
  const authority = await readParsed(
    folder,
    tls.ca,
    "its TLS authority's certificate",
    (pem) => new X509Certificate(pem),
  );
  const pem = (await readIfThere(tls.server))?.toString();
  if (pem !== undefined && stillFits(pem, authority, wanted, now)) {
    return { certificate: pem, key: pem, caFile: tls.ca };
  }

  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const authorityKey = await readParsed(folder, tls.caKey, "its TLS authority's key", (text) => createPrivateKey(text));
  const issuer = localIssuer(subjectOf(authority.toString()), authorityKey);
  const commonName = names[0] ?? 'localhost';
  const leaf = await issueFor(issuer, 'tls-server', { commonName, publicKey, alternativeNames: wanted }, now);
  const renewed = toPem(leaf) + privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  await replaceFile(tls.server, renewed);
  return { certificate: renewed, key: renewed, caFile: tls.ca };
}

async function readParsed<T>(folder: DataFolder, path: string, part: string, parse: (pem: string) => T): Promise<T> {
  const pem = await readPart(folder, path, `${part} (${path})`);
  try {
    return parse(pem);
  } catch (error) {
    throw new ServerError('data-folder-incomplete', { path: folder.path, missing: `${part} (damaged ${path})` }, error);
  }
}

function stillFits(pem: string, authority: X509Certificate, names: readonly string[], now: Date): boolean {
  try {
    const certificate = new X509Certificate(pem);
    const covers = (name: string) =>
      (isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name)) !== undefined;
    return (
      certificate.checkPrivateKey(createPrivateKey(pem)) &&
      certificate.verify(authority.publicKey) &&
      new Date(certificate.validTo).getTime() - now.getTime() > RENEW_BEFORE &&
      names.every(covers)
    );
  } catch {
    return false; // the certificate or its key is damaged
  }
}
