/** Code-signing certificates: their keys in the HSM, issued by the server's own authority, known by number. */

import { X509Certificate } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { hsmIssuer, issueFor } from '../certificates/authority.ts';
import { nameOf } from '../certificates/read.ts';
import { type Issuer, toPem } from '../certificates/x509.ts';
import { reasonOf, serverError } from '../errors.ts';
import type { KeyStore, RsaBits, SigningKey } from '../keys/key-store.ts';
import type { IssuedCertificate, Store } from '../records/store.ts';
import { type DataFolder, isThere } from './data-folder.ts';

export interface NewCertificate {
  readonly number: string;
  readonly bits: RsaBits;
  readonly commonName: string;
}

export interface MakingData {
  readonly store: Store;
  readonly keys: KeyStore;
  readonly folder: DataFolder;
}

/**
 * Makes a key in the HSM and a certificate for it; a running server knows it at once.
 * @returns the path of its chain, PEM
 * @throws `certificate-number-taken`, `key-not-found`, `data-folder-incomplete`, `hsm-failed`
 */
export async function makeCertificate(
  { store, keys, folder }: MakingData,
  { number, bits, commonName }: NewCertificate,
  now: Date,
): Promise<string> {
  if ((await store.certificates.find(number)) !== undefined) throw serverError('certificate-number-taken', { number });
  const { issuer, certificate } = await codeSigningIssuer({ store, keys, folder });
  const key = await keys.generate(`certificate-${number}`, bits);
  const issued = await issueCodeSigning(issuer, certificate, key, number, commonName, now);
  return await addCertificate(store, folder, issued, now);
}

/**
 * The server's own authority, and its certificate as PEM.
 * @throws `data-folder-incomplete`, `key-not-found`, `hsm-failed`
 */
export async function codeSigningIssuer({
  store,
  keys,
  folder,
}: MakingData): Promise<{ readonly issuer: Issuer; readonly certificate: string }> {
  const authority = await store.authority.get();
  if (authority === undefined) {
    throw serverError('data-folder-incomplete', { path: folder.path, missing: 'its code-signing authority' });
  }
  const key = await keys.find(authority.keyId);
  if (key === undefined) throw serverError('key-not-found', { id: authority.keyId });
  const { certificate } = authority;
  return { issuer: hsmIssuer(nameOf(new X509Certificate(certificate)), key), certificate };
}

/** @param issuerCertificate PEM; it follows the leaf in the chain */
export async function issueCodeSigning(
  issuer: Issuer,
  issuerCertificate: string,
  key: SigningKey,
  number: string,
  commonName: string,
  now: Date,
): Promise<IssuedCertificate> {
  const leaf = await issueFor(issuer, 'code-signing', { commonName, publicKey: key.publicKey }, now);
  const { validFrom, validTo } = new X509Certificate(leaf);
  return {
    number,
    keyId: key.id,
    chain: toPem(leaf) + issuerCertificate,
    notBefore: new Date(validFrom),
    notAfter: new Date(validTo),
  };
}

/** Makes the number known, then writes the file of its chain. @returns the file's path */
export async function addCertificate(
  store: Store,
  folder: DataFolder,
  certificate: IssuedCertificate,
  now: Date,
): Promise<string> {
  const { number } = certificate;
  if (!(await store.certificates.add(certificate, now))) throw serverError('certificate-number-taken', { number });
  const path = folder.certificate(number);
  await writeFile(path, certificate.chain);
  return path;
}

/** Writes the files of chains that are missing: the store is what counts, the files are for clients to read. @throws `data-folder-unusable` */
export async function restoreChainFiles(store: Store, folder: DataFolder): Promise<void> {
  for (const { number, chain } of await store.certificates.list()) {
    const path = folder.certificate(number);
    try {
      if (!(await isThere(path))) await writeFile(path, chain);
    } catch (error) {
      throw serverError('data-folder-unusable', { path, reason: reasonOf(error) }, error);
    }
  }
}
