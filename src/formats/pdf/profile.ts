import { TIMESTAMP_TOKEN } from '../../asn1/object-identifiers.ts';
import { signingCertificate } from '../../cms/build-signed-data.ts';
import type { SignatureProfile } from '../../format/cms.ts';

/** PAdES B-B and B-T (ETSI EN 319 142-1, 6.3). /M of the signature dictionary replaces signingTime. */
export const PDF_PROFILE: SignatureProfile = {
  signedAttributes: ({ chain }) => [signingCertificate(chain.leaf.der)],
  carriesRoot: false,
  timestampTypes: [TIMESTAMP_TOKEN],
  verifier: 'PDF',
};
