/** The server's own certification authorities (CAs): one for code signing, whose key is in the HSM, and one for TLS. */

import { createHash, createPublicKey, type KeyObject, randomBytes, sign } from 'node:crypto';
import type { RelativeDistinguishedNames } from 'pkijs';
import type { SigningKey } from '../keys/pkcs11.ts';
import { type CertificateRequest, encodedName, type Issuer, issueCertificate, type Purpose } from './x509.ts';

const DAY = 24 * 60 * 60 * 1000;
const AUTHORITY_LIFETIME = 20 * 365 * DAY;
/** A certificate becomes valid an hour before its creation, because a verifier's clock may be slow. */
const BACKDATED = 60 * 60 * 1000;
const LIFETIME: Readonly<Record<Purpose, number>> = {
  'code-signing': 3 * 365 * DAY,
  'tls-server': 825 * DAY,
};
const ORGANIZATION = 'codesign-remote server';

/** Random digits in the name distinguish the authorities of different servers. */
export function authorityName(kind: 'Code Signing' | 'TLS'): RelativeDistinguishedNames {
  return encodedName({ organization: ORGANIZATION, commonName: `${kind} CA ${randomBytes(4).toString('hex')}` });
}

export function hsmIssuer(name: RelativeDistinguishedNames, key: SigningKey): Issuer {
  return {
    name,
    publicKey: key.publicKey,
    scheme: 'rsa-sha256',
    sign: (toBeSigned) => key.sign('SHA256', createHash('sha256').update(toBeSigned).digest()),
  };
}

export function localIssuer(name: RelativeDistinguishedNames, key: KeyObject): Issuer {
  return {
    name,
    publicKey: createPublicKey(key),
    scheme: 'ecdsa-sha256',
    sign: async (toBeSigned) => sign('sha256', toBeSigned, key),
  };
}

export async function selfSign(issuer: Issuer, now: Date): Promise<Buffer> {
  const { name, publicKey } = issuer;
  return await issueCertificate(issuer, {
    ...validity(now, AUTHORITY_LIFETIME),
    subject: name,
    publicKey,
    serialNumber: newSerialNumber(),
    use: 'authority',
  });
}

export async function issueFor(
  issuer: Issuer,
  use: Purpose,
  request: Pick<CertificateRequest, 'publicKey' | 'alternativeNames'> & { readonly commonName: string },
  now: Date,
): Promise<Buffer> {
  const { commonName, ...rest } = request;
  return await issueCertificate(issuer, {
    ...rest,
    ...validity(now, LIFETIME[use]),
    subject: encodedName({ organization: ORGANIZATION, commonName }),
    serialNumber: newSerialNumber(),
    use,
  });
}

function validity(now: Date, lifetime: number): Pick<CertificateRequest, 'notBefore' | 'notAfter'> {
  return { notBefore: new Date(now.getTime() - BACKDATED), notAfter: new Date(now.getTime() + lifetime) };
}

/** The serial number is positive and always 16 bytes long, because its first bits are 01. The other 126 bits are random. */
export function newSerialNumber(): Uint8Array {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40;
  return bytes;
}
