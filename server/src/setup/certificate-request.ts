/** Certificates by a CA of the operator's choice: a request for a key in the HSM, and the import of what the CA makes of it. */

import type { X509Certificate } from 'node:crypto';
import { readFile, rename, stat, writeFile } from 'node:fs/promises';
import { hsmIssuer } from '../certificates/authority.ts';
import { readCertificates } from '../certificates/read.ts';

import { type DistinguishedName, signingRequest, toPem } from '../certificates/x509.ts';
import { reasonOf, serverError } from '../errors.ts';
import type { RsaBits, SigningKey } from '../keys/key-store.ts';
import type { MakingData } from './certificates.ts';

const CODE_SIGNING = '1.3.6.1.5.5.7.3.3';
/** A chain has a few certificates of some KiB. */
const LARGEST = 1024 * 1024;

/**
 * Makes a key and the request for its certificate; where the number has a key, the request is for that one.
 * @returns PEM
 * @throws `key-not-found`, `hsm-failed`
 */
export async function requestCertificate(
  { store, keys }: MakingData,
  { number, bits, subject }: { readonly number: string; readonly bits: RsaBits; readonly subject: DistinguishedName },
  now: Date,
): Promise<string> {
  const pending = await store.certificateRequests.find(number);
  if (pending !== undefined) return pending.request;
  const known = await store.certificates.find(number);
  const key = known === undefined ? await keys.generate(`certificate-${number}`, bits) : await keys.find(known.keyId);
  if (key === undefined) throw serverError('key-not-found', { id: known?.keyId });
  const request = toPem(await signingRequest(hsmIssuer(subject, key)), 'CERTIFICATE REQUEST');
  await store.certificateRequests.add({ number, keyId: key.id, request }, now);
  return (await store.certificateRequests.find(number))?.request ?? request; // another command may have been quicker
}

/**
 * Gives a number the certificate that was made for its key: the first one, or another in the place of the one before.
 * @param path PEM, in any order
 * @returns the path of the chain's file
 * @throws `nothing-requested`, `certificate-unusable`, `key-not-found`, `hsm-failed`
 */
export async function importCertificate(
  { store, keys, folder }: MakingData,
  number: string,
  path: string,
  now: Date,
): Promise<string> {
  const known = await store.certificates.find(number);
  const keyId = known?.keyId ?? (await store.certificateRequests.find(number))?.keyId;
  if (keyId === undefined) throw serverError('nothing-requested', { number });
  const key = await keys.find(keyId);
  if (key === undefined) throw serverError('key-not-found', { id: keyId });

  const chain = orderChain(await readChain(path), key, path);
  const [leaf] = chain;
  if (leaf === undefined) throw unusable(path, 'none of its certificates is for the key of this number');
  if (!leaf.keyUsage?.includes(CODE_SIGNING)) throw unusable(path, 'the certificate is not for code signing');
  const notAfter = new Date(leaf.validTo);
  if (notAfter < now) throw unusable(path, `the certificate ended on ${notAfter.toISOString()}`);

  const pem = chain.map(({ raw }) => toPem(raw)).join('');
  const certificate = { number, keyId, chain: pem, notBefore: new Date(leaf.validFrom), notAfter };
  if (!(await store.certificates.renew(certificate)) && !(await store.certificates.add(certificate, now))) {
    throw serverError('certificate-number-taken', { number });
  }
  await store.certificateRequests.remove(number);
  const file = folder.certificate(number);
  const temporary = `${file}.${process.pid}`; // a client may be reading the chain of before
  await writeFile(temporary, pem);
  await rename(temporary, file);
  return file;
}

async function readChain(path: string): Promise<readonly X509Certificate[]> {
  try {
    const { size } = await stat(path);
    if (size > LARGEST) throw new Error(`it has ${size} bytes`);
    const certificates = readCertificates(await readFile(path, 'utf8'));
    if (certificates.length === 0) throw new Error('it holds no certificate as PEM');
    return certificates;
  } catch (error) {
    throw unusable(path, reasonOf(error), error);
  }
}

/** The certificate of the key, its issuer, that one's issuer, …: up to a root, or as far as they are there. */
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
    throw unusable(path, 'the certificate of its issuer is missing');
  }
  return chain;
}

function unusable(path: string, reason: string, cause?: unknown) {
  return serverError('certificate-unusable', { path, reason }, cause);
}
