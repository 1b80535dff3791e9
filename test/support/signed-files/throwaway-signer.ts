/** Signers for tests: a chain as the program reads it, and a key that does what the service would. */

import { privateEncrypt } from 'node:crypto';
import { readSigningChain, type SigningChain } from '../../../src/certificates/signing-chain.ts';
import { digestInfo } from '../../../src/cms/build-signed-data.ts';
import type { DigestAlgorithm } from '../../../src/crypto/algorithms.ts';
import type { HostileSigner } from './hostile-cms.ts';
import { type IssuedCertificate, issue, makePki, testKey } from './pki.ts';

export interface ThrowawaySigner extends HostileSigner {
  /** Leaf and intermediate, as a user would give them. */
  readonly chain: SigningChain;
  readonly root: string;
  readonly intermediate: string;
  readonly leaf: string;
  /** PKCS#1 v1.5. */
  signDigest(digest: Uint8Array, algorithm: DigestAlgorithm): Uint8Array;
}

export interface ThrowawaySignerOptions {
  readonly bits?: 2048 | 3072 | 4096;
  readonly publisher?: string;
  readonly organization?: string;
}

export function makeThrowawaySigner({
  bits = 2048,
  publisher = 'Test Publisher',
  organization,
}: ThrowawaySignerOptions = {}): Promise<ThrowawaySigner> {
  const pki = makePki();
  const leaf = pki.leaf({ commonName: publisher, ...(organization && { organization }), key: testKey(`rsa-${bits}`) });
  return signerOf(leaf, pki.root, pki.intermediate);
}

/** A PKI and a signer for each key size, valid up to the end of 2099: for recorded signatures. */
export function makeLastingSigners(sizes: readonly (2048 | 3072 | 4096)[]): Promise<readonly ThrowawaySigner[]> {
  const validity = { notBefore: new Date('2020-01-01T00:00:00Z'), notAfter: new Date('2099-12-31T23:59:59Z') };
  const root = issue({ commonName: 'Golden Root', key: testKey('rsa-2048', 'root'), ca: true, ...validity });
  const key = testKey('rsa-2048', 'intermediate');
  const intermediate = issue({ commonName: 'Golden Code Signing CA', issuer: root, key, ca: true, ...validity });
  return Promise.all(
    sizes.map((bits) => {
      const leafKey = testKey(`rsa-${bits}`);
      const leaf = issue({ commonName: `Golden RSA ${bits}`, issuer: intermediate, key: leafKey, ...validity });
      return signerOf(leaf, root, intermediate);
    }),
  );
}

/** The chain of these certificates, in any order. */
export function chainOf(...certificates: readonly Pick<IssuedCertificate, 'pem'>[]): Promise<SigningChain> {
  const files = certificates.map(({ pem }, index) => ({ name: `certificate ${index}`, bytes: Buffer.from(pem) }));
  return readSigningChain(files, { now: new Date('2026-01-01'), purposes: [] });
}

/** Without an intermediate, the root issues the leaf itself. */
export async function signerOf(
  leaf: IssuedCertificate,
  root: IssuedCertificate,
  intermediate?: IssuedCertificate,
): Promise<ThrowawaySigner> {
  return {
    chain: await chainOf(leaf, ...(intermediate === undefined ? [] : [intermediate])),
    root: root.pem,
    intermediate: (intermediate ?? root).pem,
    leaf: leaf.pem,
    der: leaf.der,
    privateKey: leaf.privateKey,
    signDigest: (digest, algorithm) => privateEncrypt(leaf.privateKey, digestInfo(algorithm, digest)),
  };
}
