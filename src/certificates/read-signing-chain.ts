/** The signing certificate and its chain from the files a user gives: the one way in. */

import type { Secret } from '../secrets/secret.ts';
import type { CertificateFile } from './certificate-file.ts';
import { certificateErrors } from './errors.ts';
import { dateOf, judgeLeaf } from './judge-leaf.ts';
import { isSelfSigned, type ParsedCertificate, parseCertificate } from './parsed-certificate.ts';
import { readContainer } from './read-containers.ts';
import type { SigningChain } from './signing-chain.ts';
import { type SortedChain, sortChain } from './sort-chain.ts';

export interface ReadSigningChainOptions {
  readonly now: Date;
  /** Opens PKCS#12 files. */
  readonly password?: Secret | undefined;
}

/** A bundle of every public root has about 150. */
const MAX_CERTIFICATES = 500;
const NAMES_SHOWN = 5;

/**
 * Reads the files in any order, each PEM, DER, PKCS#7 or PKCS#12, and gives the chain of the one certificate among them
 * that can sign code. Names in it and in its warnings are as the certificates have them: escape them where they are shown.
 * Throws `certificate-…` (see `certificateErrors`).
 */
export async function readSigningChain(
  inputs: readonly CertificateFile[],
  options: ReadSigningChainOptions,
): Promise<SigningChain> {
  if (inputs.length === 0) throw certificateErrors('certificate-not-given');
  const certificates = await readCertificates(inputs, options.password);
  const sorted = sortChain(certificates, options.now);
  const { leaf } = sorted;
  const { publicKey, signatureLength, warnings } = judgeLeaf(leaf, options.now);
  return {
    leaf: { der: leaf.der, name: leaf.name },
    publicKey,
    notAfter: leaf.notAfter,
    signatureLength,
    certificates: [leaf, ...sorted.issuers].map(({ der, name }) => ({ der, name })),
    warnings: [...warnings, ...chainWarnings(sorted, options.now)],
  };
}

/** All certificates of all files, each once. */
async function readCertificates(
  inputs: readonly CertificateFile[],
  password: Secret | undefined,
): Promise<ParsedCertificate[]> {
  const distinct = new Map<string, { readonly der: Uint8Array; readonly file: string }>();
  for (const input of inputs) {
    for (const der of await readContainer(input, password)) {
      distinct.set(Buffer.from(der).toString('latin1'), { der, file: input.name });
      if (distinct.size > MAX_CERTIFICATES) {
        throw certificateErrors('certificate-bundle-too-large', { limit: MAX_CERTIFICATES, what: 'certificates' });
      }
    }
  }
  return [...distinct.values()].map(({ der, file }) => parseCertificate(der, file));
}

function chainWarnings({ leaf, issuers, unrelated }: SortedChain, now: Date): string[] {
  const warnings: string[] = [];
  for (const { name, notAfter } of issuers) {
    if (now > notAfter) warnings.push(`The certificate of the issuer ${name} expired on ${dateOf(notAfter)}.`);
  }
  const last = issuers.at(-1) ?? leaf;
  if (!isSelfSigned(last)) {
    // A chain up to an intermediate lacks only its root, which is not embedded anyway.
    if (issuers.length === 0) {
      warnings.push(
        `The signing certificate is alone: its issuer ${last.issuerName} is not given. Verifiers that do not know the issuer will reject the signature.`,
      );
    } else if (unrelated.some(({ x509 }) => x509.ca)) {
      warnings.push(`The chain has a gap: ${last.issuerName}, which issued ${last.name}, is not given.`);
    }
  }
  if (unrelated.length > 0) {
    const names = unrelated.slice(0, NAMES_SHOWN).map(({ name }) => name);
    const more = unrelated.length > NAMES_SHOWN ? ` and ${unrelated.length - NAMES_SHOWN} more` : '';
    warnings.push(`Left out, because they are no part of the chain: ${names.join('; ')}${more}.`);
  }
  return warnings;
}
