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
import {
  allowsKeyUsage,
  type CertificateFields,
  extendedKeyUsageOf,
  KEY_USAGE_BITS,
  type ParsedCertificate,
  publicKeyOf,
} from './certificate.ts';

/**
 * Acrobat rejects certificates for code signing, unlike other PDF readers. For connection files, Windows also accepts
 * certificates for servers and for code signing.
 */
export type Purpose = 'code-signing' | 'document-signing' | 'time-stamping' | 'remote-desktop';

const FOR_DOCUMENTS = [DOCUMENT_SIGNING, MICROSOFT_DOCUMENT_SIGNING, ADOBE_DOCUMENT_SIGNING, EMAIL_PROTECTION];

/** One of `oids` must be in extendedKeyUsage. `use` follows "suitable for" in messages. */
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

export function purposeProblem(fields: CertificateFields, purpose: Purpose): string | undefined {
  return purpose === 'time-stamping' ? timeStampingProblem(fields) : signingProblem(fields, purpose);
}

export function purposeOddity(fields: CertificateFields, purpose: Purpose): string | undefined {
  if (purpose === 'time-stamping') return timeStampingOddity(fields);
  const purposes = purpose === 'document-signing' ? extendedKeyUsageOf(fields) : undefined;
  if (purposes === undefined || [...FOR_DOCUMENTS, ANY_PURPOSE].some((oid) => purposes.includes(oid))) return undefined;
  return 'its extendedKeyUsage has codeSigning but no purpose for documents, so Acrobat does not trust it';
}

/** As in Windows, signtool and osslsigncode, a missing extendedKeyUsage permits all purposes. */
function signingProblem(fields: CertificateFields, purpose: Purpose): string | undefined {
  const { digitalSignature, contentCommitment } = KEY_USAGE_BITS;
  // Documents may be signed for non-repudiation (contentCommitment).
  const bits = purpose === 'document-signing' ? digitalSignature | contentCommitment : digitalSignature;
  if (!allowsKeyUsage(fields, bits)) return 'its keyUsage lacks digitalSignature';
  return allowsBelow(fields, purpose) ? undefined : `its extendedKeyUsage lacks ${PURPOSES[purpose].name}`;
}

/** A missing extendedKeyUsage or "any purpose" is not sufficient (RFC 3161, section 2.3). */
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
 * RFC 5280 defines extendedKeyUsage only for leaves, but Windows, OpenSSL and the CA/Browser Forum apply it to
 * authorities too.
 */
export function allowsBelow(fields: CertificateFields, purpose: Purpose): boolean {
  const purposes = extendedKeyUsageOf(fields);
  return purposes === undefined || [ANY_PURPOSE, ...PURPOSES[purpose].oids].some((oid) => purposes.includes(oid));
}

/** Describes a violation of RFC 3161, section 2.3, that verifiers ignore. */
export function timeStampingOddity(fields: CertificateFields): string | undefined {
  if ((extendedKeyUsageOf(fields)?.length ?? 0) > 1) return 'its extendedKeyUsage names more than timeStamping';
  return fields.criticalExtensions.includes(EXTENDED_KEY_USAGE) ? undefined : 'its extendedKeyUsage is not critical';
}

/** With Authenticode's "lifetime signing", a signature expires with its certificate, even if it has a timestamp. */
export function isLifetimeSigner(fields: CertificateFields): boolean {
  return extendedKeyUsageOf(fields)?.includes(LIFETIME_SIGNING) ?? false;
}

/** Verifiers reject RSA and DSA keys with fewer bits. */
const LEAST_BITS = 1024;
const GOOD_BITS = 2048;
/** OpenSSL's curve names contain the size of the field in bits. */
const CURVE = /^(?:prime|secp|sect|brainpoolP|c2pnb|c2tnb)(\d+)[a-z]\d$/;
/** A curve of this size provides 112 bits of security. */
const LEAST_CURVE_BITS = 224;

export function examineKey(certificate: ParsedCertificate): Finding[] {
  const key = publicKeyOf(certificate);
  const weakness = key && (key.asymmetricKeyType === 'ec' ? ecWeakness(key) : modulusWeakness(key));
  if (weakness === undefined) return [];
  const message = `The certificate of "${certificate.name}" has ${weakness.what}.`;
  return [weakness.weigh('certificate-weak-key', message)];
}

type Weakness = { readonly what: string; readonly weigh: typeof warning };

function modulusWeakness({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): Weakness | undefined {
  const bits = asymmetricKeyDetails?.modulusLength;
  if (bits === undefined || bits >= GOOD_BITS) return undefined;
  const kind = asymmetricKeyType === 'dsa' ? 'a DSA' : 'an RSA';
  return { what: `${kind} key of only ${bits} bits`, weigh: bits < LEAST_BITS ? untrusted : warning };
}

/**
 * An attacker can choose the parameters of an unnamed curve, and then forge signatures (RFC 5480, section 2.1.1;
 * CVE-2020-0601).
 */
function ecWeakness({ asymmetricKeyDetails }: KeyObject): Weakness | undefined {
  const curve = asymmetricKeyDetails?.namedCurve;
  const [, digits] = CURVE.exec(curve ?? '') ?? [];
  if (Number(digits) >= LEAST_CURVE_BITS) return undefined;
  const size = digits === undefined ? '' : ` of only ${digits} bits`;
  const on = curve === undefined ? 'with custom curve parameters' : `on the curve ${curve}`;
  return { what: `an elliptic-curve key${size} ${on}`, weigh: untrusted };
}
