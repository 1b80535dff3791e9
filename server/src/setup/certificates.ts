import { X509Certificate } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { hsmIssuer, issueFor } from '../certificates/authority.ts';
import {
  type DistinguishedName,
  encodedName,
  type Issuer,
  PURPOSE,
  readCertificates,
  signingRequest,
  subjectOf,
  toPem,
} from '../certificates/x509.ts';
import { reasonOf, ServerError } from '../errors.ts';
import { isThere, replaceFile } from '../files.ts';
import type { KeyStore, RsaBits, SigningKey } from '../keys/pkcs11.ts';
import type { Operation } from '../records/audit.ts';
import type { IssuedCertificate } from '../records/rows.ts';
import type { Store } from '../records/store.ts';
import type { DataFolder } from './data-folder.ts';

/** Size limit of a chain file in bytes. */
const LARGEST = 1024 * 1024;

export interface MakingData {
  readonly store: Store;
  readonly keys: KeyStore;
  readonly folder: DataFolder;
}

/** @returns the path of the chain file */
export async function makeCertificate(
  { store, keys, folder }: MakingData,
  { number, bits, commonName }: { readonly number: string; readonly bits: RsaBits; readonly commonName: string },
  operation: Operation,
): Promise<string> {
  if ((await store.certificates.find(number)) !== undefined)
    throw new ServerError('certificate-number-taken', { number });
  const { issuer, certificate } = await codeSigningIssuer({ store, keys, folder });
  const key = await keys.generate(`certificate-${number}`, bits);
  const issued = await issueCodeSigning(issuer, certificate, key, number, commonName, operation.at);
  await store.change({ ...operation, target: number }, async ({ certificates }) => {
    if (!(await certificates.add(issued, operation.at))) throw new ServerError('certificate-number-taken', { number });
  });
  const path = folder.certificate(number);
  await replaceFile(path, issued.chain);
  return path;
}

export async function codeSigningIssuer({ store, keys, folder }: MakingData) {
  const authority = await store.authority.get();
  if (authority === undefined) {
    throw new ServerError('data-folder-incomplete', { path: folder.path, missing: 'its code-signing authority' });
  }
  const { keyId, certificate } = authority;
  const key = await keys.find(keyId);
  return { issuer: hsmIssuer(subjectOf(certificate), key), certificate };
}

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

/** Writes missing chain files, which are copies for clients. */
export async function restoreChainFiles(store: Store, folder: DataFolder): Promise<void> {
  for (const { number, chain } of await store.certificates.list()) {
    const path = folder.certificate(number);
    if (!(await isThere(path))) await replaceFile(path, chain);
  }
}

/** Creates a certificate request, and a key if the certificate number has none. @returns PEM */
export async function requestCertificate(
  { store, keys }: MakingData,
  { number, bits, subject }: { readonly number: string; readonly bits: RsaBits; readonly subject: DistinguishedName },
  operation: Operation,
): Promise<string> {
  const pending = await store.certificateRequests.find(number);
  if (pending !== undefined) return pending.request;
  const known = await store.certificates.find(number);
  const key = await (known ? keys.find(known.keyId) : keys.generate(`certificate-${number}`, bits));
  const request = toPem(await signingRequest(hsmIssuer(encodedName(subject), key)), 'CERTIFICATE REQUEST');
  await store.change({ ...operation, target: number }, ({ certificateRequests }) =>
    certificateRequests.add({ number, keyId: key.id, request }, operation.at),
  );
  return (await store.certificateRequests.find(number))?.request ?? request; // another command may have stored one first
}

/**
 * Stores the certificate that a CA issued, and replaces an earlier certificate for the same number.
 * @param path PEM file with certificates in any order
 * @returns the path of the chain file
 */
export async function importCertificate(
  { store, keys, folder }: MakingData,
  number: string,
  path: string,
  operation: Operation,
): Promise<string> {
  const known = await store.certificates.find(number);
  const keyId = known?.keyId ?? (await store.certificateRequests.find(number))?.keyId;
  if (keyId === undefined) throw new ServerError('nothing-requested', { number });
  const key = await keys.find(keyId);
  const chain = orderChain(await readChain(path), key, path);
  const [leaf] = chain;
  if (leaf === undefined) throw unusable(path, 'no certificate in the file belongs to the key with this number');
  if (!leaf.keyUsage?.includes(PURPOSE['code-signing']))
    throw unusable(path, 'the certificate is not for code signing');
  const notAfter = new Date(leaf.validTo);
  if (notAfter < operation.at) throw unusable(path, `the certificate expired on ${notAfter.toISOString()}`);

  const pem = chain.map(({ raw }) => toPem(raw)).join('');
  const certificate = { number, keyId, chain: pem, notBefore: new Date(leaf.validFrom), notAfter };
  await store.change({ ...operation, target: number }, async ({ certificates, certificateRequests }) => {
    if (!(await certificates.renew(certificate)) && !(await certificates.add(certificate, operation.at))) {
      throw new ServerError('certificate-number-taken', { number });
    }
    await certificateRequests.remove(number);
  });
  const file = folder.certificate(number);
  await replaceFile(file, pem); // a client may be reading the old chain
  return file;
}

async function readChain(path: string): Promise<readonly X509Certificate[]> {
  try {
    const { size } = await stat(path);
    if (size > LARGEST) throw new Error(`it has ${size} bytes`);
    const certificates = readCertificates(await readFile(path, 'utf8'));
    if (certificates.length === 0) throw new Error('the file contains no PEM certificate');
    return certificates;
  } catch (error) {
    throw unusable(path, reasonOf(error), error);
  }
}

/** Returns the certificate of the key, followed by the issuers in the file. */
function orderChain(all: readonly X509Certificate[], key: SigningKey, path: string): readonly X509Certificate[] {
  const chain: X509Certificate[] = [];
  let next = all.find(({ publicKey }) => publicKey.equals(key.publicKey));
  while (next !== undefined) {
    const last: X509Certificate = next;
    chain.push(last);
    next = all.find((each) => !chain.includes(each) && last.checkIssued(each) && last.verify(each.publicKey));
  }
  const [leaf] = chain;
  if (leaf !== undefined && chain.length === 1 && !leaf.checkIssued(leaf)) {
    throw unusable(path, "the issuer's certificate is missing");
  }
  return chain;
}

function unusable(path: string, reason: string, cause?: unknown) {
  return new ServerError('certificate-unusable', { path, reason }, cause);
}
