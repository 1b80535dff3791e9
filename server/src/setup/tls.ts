/** The server's TLS certificate: the operator's own, or one made by the server's TLS authority and renewed by itself at a start. */

import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { createSecureContext } from 'node:tls';
import { issueFor, localIssuer } from '../certificates/authority.ts';
import { nameOf } from '../certificates/read.ts';
import { toPem } from '../certificates/x509.ts';
import { serverError } from '../errors.ts';
import type { DataFolder } from './data-folder.ts';

export interface TlsMaterial {
  /** PEM. */
  readonly certificate: string;
  readonly key: string;
  /** What a client needs to trust it beyond public roots, or undefined where that is nothing we know of. */
  readonly caFile: string | undefined;
}

const ALWAYS = ['localhost', '127.0.0.1', '::1'];
/** A certificate that ends sooner than this is renewed at the next start, in milliseconds. */
const RENEW_BEFORE = 90 * 24 * 60 * 60 * 1000;

/** Reads the operator's files. @throws `tls-files-unusable` */
export async function readTls(certificate: string, key: string): Promise<TlsMaterial> {
  try {
    const pem = { certificate: await readFile(certificate, 'utf8'), key: await readFile(key, 'utf8') };
    createSecureContext({ cert: pem.certificate, key: pem.key });
    const last = new X509Certificate(pem.certificate.slice(pem.certificate.lastIndexOf('-----BEGIN CERTIFICATE')));
    // A chain that ends in a self-signed certificate is of a private authority: its own file tells whom to trust.
    const selfSigned = last.checkIssued(last);
    return { ...pem, caFile: selfSigned ? certificate : undefined };
  } catch (error) {
    throw serverError('tls-files-unusable', { certificate, key }, error);
  }
}

/**
 * The certificate the server made for itself, made anew where it lacks a name or ends soon.
 * @param names DNS names and IP addresses besides localhost
 */
export async function ownTls({ tls }: DataFolder, names: readonly string[], now: Date): Promise<TlsMaterial> {
  const wanted = [...new Set([...ALWAYS, ...names])];
  const authority = new X509Certificate(await readFile(tls.ca));
  const present = await readFile(tls.server, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return undefined;
  });
  const pem = present !== undefined && stillFits(present, authority, wanted, now) ? present : undefined;
  if (pem !== undefined) return { certificate: pem, key: pem, caFile: tls.ca };

  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const issuer = localIssuer(nameOf(authority), await readFile(tls.caKey, 'utf8'));
  const commonName = names[0] ?? 'localhost';
  const leaf = await issueFor(issuer, 'tls-server', { commonName, publicKey, alternativeNames: wanted }, now);
  const renewed = toPem(leaf) + privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  const temporary = `${tls.server}.${process.pid}`;
  await writeFile(temporary, renewed, { mode: 0o600 });
  await rename(temporary, tls.server);
  return { certificate: renewed, key: renewed, caFile: tls.ca };
}

function stillFits(pem: string, authority: X509Certificate, names: readonly string[], now: Date): boolean {
  const certificate = new X509Certificate(pem);
  const covers = (name: string) =>
    (isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name)) !== undefined;
  return (
    certificate.verify(authority.publicKey) &&
    new Date(certificate.validTo).getTime() - now.getTime() > RENEW_BEFORE &&
    names.every(covers)
  );
}
