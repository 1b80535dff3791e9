import { TIMESTAMP_TOKEN } from '../../asn1/object-identifiers.ts';
import { signingCertificate } from '../../cms/build-signed-data.ts';
import type { SignatureProfile } from '../../format/cms.ts';

/** PAdES levels B-B and B-T (ETSI EN 319 142-1, 6.3). The signing time is in /M of the signature dictionary. */
export const PDF_PROFILE: SignatureProfile = {
  signedAttributes: ({ chain }) => [signingCertificate(chain.leaf.der)],
  carriesRoot: false,
  timestampTypes: [TIMESTAMP_TOKEN],
  verifier: 'PDF',
};
