/** What a certificate may be used for, by its keyUsage and extendedKeyUsage (RFC 5280, 4.2.1.3 and 4.2.1.12). */

import type { KeyObject } from 'node:crypto';
import {
  ADOBE_DOCUMENT_SIGNING,
  ANY_PURPOSE,
  CODE_SIGNING,
  DOCUMENT_SIGNING,
  EMAIL_PROTECTION,
  EXTENDED_KEY_USAGE,
  LIFETIME_SIGNING,
  MICROSOFT_DOCUMENT_SIGNING,
  REMOTE_DESKTOP,
  SERVER_AUTH,
  TIME_STAMPING,
} from '../asn1/object-identifiers.ts';
import { type Finding, untrusted, warning } from '../errors/finding.ts';
import { allowsKeyUsage, type CertificateFields, extendedKeyUsageOf, KEY_USAGE_BITS } from './certificate-fields.ts';
import { type ParsedCertificate, publicKeyOf } from './parsed-certificate.ts';

/**
 * `document-signing`: for which Acrobat accepts no certificates of code, and other readers do. `remote-desktop`: signing connection files, for which Windows accepts certificates of servers and of code, too.
 */
export type Purpose = 'code-signing' | 'document-signing' | 'time-stamping' | 'remote-desktop';

/** Whose certificates Acrobat and other PDF readers accept for documents. */
const FOR_DOCUMENTS = [DOCUMENT_SIGNING, MICROSOFT_DOCUMENT_SIGNING, ADOBE_DOCUMENT_SIGNING, EMAIL_PROTECTION];

/** In extendedKeyUsage, any of `oids`; `name`: as RFC 5280 has it; `use`: for people, after "meant for". */
export const PURPOSES: Readonly<Record<Purpose, Readonly<{ oids: readonly string[]; name: string; use: string }>>> = {
  'code-signing': { oids: [CODE_SIGNING], name: 'codeSigning', use: 'signing code' },
  'document-signing': {
    oids: [...FOR_DOCUMENTS, CODE_SIGNING],
    name: 'documentSigning and emailProtection',
    use: 'signing documents',
  },
  'time-stamping': { oids: [TIME_STAMPING], name: 'timeStamping', use: 'signing timestamps' },
  'remote-desktop': {
    oids: [CODE_SIGNING, SERVER_AUTH, REMOTE_DESKTOP],
    name: 'codeSigning, serverAuth and remoteDesktop',
    use: 'signing connection files',
  },
};

/** What keeps the certificate from signing code, documents or timestamps, for people; undefined when nothing does. */
export function purposeProblem(fields: CertificateFields, purpose: Purpose): string | undefined {
  return purpose === 'time-stamping' ? timeStampingProblem(fields) : signingProblem(fields, purpose);
}

/** What is not as it should be although nothing keeps the certificate from its use; for people. */
export function purposeOddity(fields: CertificateFields, purpose: Purpose): string | undefined {
  if (purpose === 'time-stamping') return timeStampingOddity(fields);
  const purposes = purpose === 'document-signing' ? extendedKeyUsageOf(fields) : undefined;
  if (purposes === undefined || [...FOR_DOCUMENTS, ANY_PURPOSE].some((oid) => purposes.includes(oid))) return undefined;
  return 'its extendedKeyUsage has codeSigning and nothing for documents, so Acrobat does not trust it';
}

/** Without extendedKeyUsage any purpose is allowed, as in Windows, signtool and osslsigncode. */
function signingProblem(fields: CertificateFields, purpose: Purpose): string | undefined {
  const { digitalSignature, contentCommitment } = KEY_USAGE_BITS;
  // Signatures of documents may be non-repudiable, which contentCommitment says.
  const bits = purpose === 'document-signing' ? digitalSignature | contentCommitment : digitalSignature;
  if (!allowsKeyUsage(fields, bits)) return 'its keyUsage lacks digitalSignature';
  return allowsBelow(fields, purpose) ? undefined : `its extendedKeyUsage lacks ${PURPOSES[purpose].name}`;
}

/** RFC 3161, 2.3 wants the purpose named: neither a missing extension nor "any purpose" will do. */
function timeStampingProblem(fields: CertificateFields): string | undefined {
  const { digitalSignature, contentCommitment } = KEY_USAGE_BITS;
  if (!allowsKeyUsage(fields, digitalSignature | contentCommitment)) {
    return 'its keyUsage has neither digitalSignature nor contentCommitment';
  }
  const purposes = extendedKeyUsageOf(fields);
  if (purposes === undefined) return 'it has no extendedKeyUsage, which must name timeStamping';
  return purposes.includes(TIME_STAMPING) ? undefined : 'its extendedKeyUsage lacks timeStamping';
}

/**
 * Whether an authority's extendedKeyUsage lets certificates below it have this purpose. RFC 5280 leaves the extension
 * without meaning there; Windows, OpenSSL and the CA/Browser Forum take it as a limit, and so do we.
 */
export function allowsBelow(fields: CertificateFields, purpose: Purpose): boolean {
  const purposes = extendedKeyUsageOf(fields);
  return purposes === undefined || [ANY_PURPOSE, ...PURPOSES[purpose].oids].some((oid) => purposes.includes(oid));
}

/** What RFC 3161, 2.3 wants of an authority's certificate beyond the purpose, and verifiers pass over; for people. */
export function timeStampingOddity(fields: CertificateFields): string | undefined {
  if ((extendedKeyUsageOf(fields)?.length ?? 0) > 1) return 'its extendedKeyUsage names more than timeStamping';
  return fields.criticalExtensions.includes(EXTENDED_KEY_USAGE) ? undefined : 'its extendedKeyUsage is not critical';
}

/** Whether a timestamp does not extend the signature's life beyond the certificate's (Authenticode's lifetime signing). */
export function isLifetimeSigner(fields: CertificateFields): boolean {
  return extendedKeyUsageOf(fields)?.includes(LIFETIME_SIGNING) ?? false;
}

/** RSA and DSA moduli in bits: below the first verifiers reject them, below the second they are outdated. */
const LEAST_BITS = 1024;
const GOOD_BITS = 2048;
/** Names that OpenSSL gives curves, by the size of their field in bits. */
const CURVE = /^(?:prime|secp|sect|brainpoolP|c2pnb|c2tnb)(\d+)[a-z]\d$/;
/** Of a curve's field: 112 bits of security. */
const LEAST_CURVE_BITS = 224;

/** One finding for a key that is weak, against trust where verifiers reject such keys; otherwise none. */
export function examineKey(certificate: ParsedCertificate): Finding[] {
  const key = publicKeyOf(certificate);
  const weakness = key && (key.asymmetricKeyType === 'ec' ? ecWeakness(key) : modulusWeakness(key));
  if (weakness === undefined) return [];
  const message = `The certificate of "${certificate.name}" has ${weakness.what}.`;
  return [weakness.weigh('certificate-weak-key', message)];
}

/** `what`: for people, a key and its size. */
type Weakness = { readonly what: string; readonly weigh: typeof warning };

function modulusWeakness({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): Weakness | undefined {
  const bits = asymmetricKeyDetails?.modulusLength;
  if (bits === undefined || bits >= GOOD_BITS) return undefined;
  const kind = asymmetricKeyType === 'dsa' ? 'a DSA' : 'an RSA';
  return { what: `${kind} key of only ${bits} bits`, weigh: bits < LEAST_BITS ? untrusted : warning };
}

/** A curve that has no name has parameters of its own, which may be chosen to forge (RFC 5480, 2.1.1; CVE-2020-0601). */
function ecWeakness({ asymmetricKeyDetails }: KeyObject): Weakness | undefined {
  const curve = asymmetricKeyDetails?.namedCurve;
  const [, digits] = CURVE.exec(curve ?? '') ?? [];
  if (Number(digits) >= LEAST_CURVE_BITS) return undefined;
  const size = digits === undefined ? '' : ` of only ${digits} bits`;
  const on = curve === undefined ? 'with curve parameters of its own' : `on the curve ${curve}`;
  return { what: `an elliptic-curve key${size} ${on}`, weigh: untrusted };
}
