/** Requests for certificates (PKCS#10, RFC 2986): what a CA gets to see of a key in the HSM. */

import { BitString, Integer, Sequence } from 'asn1js';
import { encode, encoded, exact, explicit } from './der.ts';
import { type Issuer, name, signatureAlgorithm } from './x509.ts';

/**
 * A request for a certificate of the issuer's own key, signed with it: proof that its private half is at hand.
 * @returns DER
 */
export async function signingRequest(key: Issuer): Promise<Buffer> {
  const info = new Sequence({
    value: [
      new Integer({ value: 0 }), // version 1
      name(key.name),
      encoded(key.publicKey.export({ format: 'der', type: 'spki' })),
      explicit(0), // no attributes: what the certificate is for is the CA's to know
    ],
  });
  const signature = await key.sign(encode(info));
  return encode(
    new Sequence({ value: [info, signatureAlgorithm(key.scheme), new BitString({ valueHex: exact(signature) })] }),
  );
}
