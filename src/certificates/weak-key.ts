/** Keys of certificates that are too weak to rely on, by their kind and size. */

import type { KeyObject } from 'node:crypto';
import type { Finding } from '../errors/finding.ts';
import { type ParsedCertificate, publicKeyOf } from './parsed-certificate.ts';

/** RSA and DSA moduli in bits: below the first nobody takes them any more, below the second they are of the past. */
const LEAST_BITS = 1024;
const GOOD_BITS = 2048;
/** Names that OpenSSL gives curves, by the size of their field in bits. */
const CURVE = /^(?:prime|secp|sect|brainpoolP|c2pnb|c2tnb)(\d+)[a-z]\d$/;
/** Of a curve's field: 112 bits of security. */
const LEAST_CURVE_BITS = 224;

/** One finding for a key that is weak, against trust where verifiers reject such keys; otherwise none. */
export function judgeKey(certificate: ParsedCertificate): Finding[] {
  const key = publicKeyOf(certificate);
  const weakness = key && (key.asymmetricKeyType === 'ec' ? ecWeakness(key) : modulusWeakness(key));
  if (weakness === undefined) return [];
  const message = `The certificate of "${certificate.name}" has ${weakness.what}.`;
  return [{ code: 'certificate-weak-key', message, against: weakness.against }];
}

interface Weakness {
  /** For people: a key and its size. */
  readonly what: string;
  readonly against: Finding['against'];
}

function modulusWeakness({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): Weakness | undefined {
  const bits = asymmetricKeyDetails?.modulusLength;
  if (bits === undefined || bits >= GOOD_BITS) return undefined;
  const kind = asymmetricKeyType === 'dsa' ? 'a DSA' : 'an RSA';
  return { what: `${kind} key of only ${bits} bits`, against: bits < LEAST_BITS ? 'trust' : 'nothing' };
}

/** A curve that has no name has parameters of its own, which may be chosen to forge (RFC 5480, 2.1.1; CVE-2020-0601). */
function ecWeakness({ asymmetricKeyDetails }: KeyObject): Weakness | undefined {
  const curve = asymmetricKeyDetails?.namedCurve;
  const [, digits] = CURVE.exec(curve ?? '') ?? [];
  if (Number(digits) >= LEAST_CURVE_BITS) return undefined;
  const size = digits === undefined ? '' : ` of only ${digits} bits`;
  const on = curve === undefined ? 'with curve parameters of its own' : `on the curve ${curve}`;
  return { what: `an elliptic-curve key${size} ${on}`, against: 'trust' };
}
