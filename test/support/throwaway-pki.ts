/** A PKI for tests: root, intermediate and an RSA leaf for code signing, with keys that live in memory only. */

import { constants, createPublicKey, generateKeyPairSync, type KeyObject, privateEncrypt, sign } from 'node:crypto';
import forge from 'node-forge';
import type { Certificate, SigningChain } from '../../src/certificates/signing-chain.ts';
import { type DigestAlgorithm, NODE_DIGEST_NAME } from '../../src/crypto/algorithms.ts';

export interface ThrowawaySigner {
  /** Leaf and intermediate, as a user would give them. */
  readonly chain: SigningChain;
  /** PEM. */
  readonly root: string;
  readonly intermediate: string;
  readonly leaf: string;
  /** PKCS#1 v1.5 over the digest of `bytes`: what the service would give. */
  sign(bytes: Uint8Array, algorithm: DigestAlgorithm): Uint8Array;
}

export interface ThrowawayPkiOptions {
  readonly bits?: number;
  readonly publisher?: string;
  readonly notBefore?: Date;
  readonly notAfter?: Date;
}

interface Issuer {
  readonly key: KeyObject;
  readonly certificate: forge.pki.Certificate;
}

/** Takes a second or so: make one in `beforeAll`. */
export function makeThrowawaySigner(options: ThrowawayPkiOptions = {}): ThrowawaySigner {
  return makeThrowawaySigners([options])[0] as ThrowawaySigner;
}

/** Several leaves under one root and one intermediate. */
export function makeThrowawaySigners(leaves: readonly ThrowawayPkiOptions[]): readonly ThrowawaySigner[] {
  const validity = { ...leaves[0] };
  const root = issue('Test Root', 2048, undefined, CA, validity);
  const intermediate = issue('Test Code Signing CA', 2048, root, CA, validity);
  return leaves.map((options) => {
    const leaf = issue(
      options.publisher ?? 'Test Publisher',
      options.bits ?? 2048,
      intermediate,
      CODE_SIGNING,
      options,
    );
    const pem = (issuer: Issuer) => forge.pki.certificateToPem(issuer.certificate);
    return {
      chain: signingChain([pem(leaf), pem(intermediate)]),
      root: pem(root),
      intermediate: pem(intermediate),
      leaf: pem(leaf),
      sign: (bytes, algorithm) => sign(NODE_DIGEST_NAME[algorithm], bytes, leaf.key),
    };
  });
}

/** A chain as `src/certificates` would give it, from PEM certificates in order, leaf first. */
export function signingChain(pems: readonly string[]): SigningChain {
  const certificates = pems.map(readPem);
  const leaf = certificates[0] as Certificate;
  const publicKey = createPublicKey(pems[0] as string);
  const signatureLength = (publicKey.asymmetricKeyDetails?.modulusLength ?? 0) / 8;
  return { leaf, publicKey, signatureLength, certificates, warnings: [] };
}

function readPem(pem: string): Certificate {
  const certificate = forge.pki.certificateFromPem(pem);
  const der = Buffer.from(pem.replace(/-----[^-]+-----|\s/g, ''), 'base64');
  return { der, name: String(certificate.subject.getField('CN')?.value) };
}

const CA = [
  { name: 'basicConstraints', critical: true, cA: true },
  { name: 'keyUsage', critical: true, keyCertSign: true, cRLSign: true },
];
const CODE_SIGNING = [
  { name: 'basicConstraints', critical: true, cA: false },
  { name: 'keyUsage', critical: true, digitalSignature: true },
  { name: 'extKeyUsage', codeSigning: true },
];

function issue(
  name: string,
  bits: number,
  issuer: Issuer | undefined,
  extensions: object[],
  { notBefore, notAfter }: ThrowawayPkiOptions,
): Issuer {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: bits });
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = forge.pki.publicKeyFromPem(publicKey.export({ type: 'spki', format: 'pem' }).toString());
  // Positive, and different for each certificate.
  certificate.serialNumber = `4${forge.util.bytesToHex(forge.random.getBytesSync(8)).slice(1)}`;
  certificate.validity.notBefore = notBefore ?? new Date(Date.now() - 86_400_000);
  certificate.validity.notAfter = notAfter ?? new Date(Date.now() + 365 * 86_400_000);
  const subject = [
    { name: 'countryName', value: 'XX' },
    { name: 'organizationName', value: 'Test' },
    { name: 'commonName', value: name },
  ];
  certificate.setSubject(subject);
  certificate.setIssuer(issuer?.certificate.subject.attributes ?? subject);
  const identifiers = [
    { name: 'subjectKeyIdentifier' },
    ...(issuer
      ? [
          {
            name: 'authorityKeyIdentifier',
            keyIdentifier: issuer.certificate.generateSubjectKeyIdentifier().getBytes(),
          },
        ]
      : []),
  ];
  certificate.setExtensions([...extensions, ...identifiers]);
  signCertificate(certificate, issuer?.key ?? privateKey);
  return { key: privateKey, certificate };
}

/** DER of a DigestInfo for SHA-256, up to the digest. */
const SHA256_DIGEST_INFO = Buffer.from('3031300d060960864801650304020105000420', 'hex');

/** Has OpenSSL do the arithmetic: in JavaScript it takes seconds. */
function signCertificate(certificate: forge.pki.Certificate, key: KeyObject): void {
  const openSslKey = {
    sign(md: forge.md.MessageDigest): string {
      const digest = Buffer.from(md.digest().getBytes(), 'latin1');
      const padded = { key, padding: constants.RSA_PKCS1_PADDING };
      return privateEncrypt(padded, Buffer.concat([SHA256_DIGEST_INFO, digest])).toString('latin1');
    },
  };
  certificate.sign(openSslKey as unknown as forge.pki.rsa.PrivateKey, forge.md.sha256.create());
}
