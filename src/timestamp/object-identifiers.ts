/** Object identifiers of timestamps (RFC 3161, 5035, 5652) and of what they are signed with, dotted. */

export const TST_INFO = '1.2.840.113549.1.9.16.1.4';
export const SIGNING_TIME = '1.2.840.113549.1.9.5';
/** ESSCertID, with a SHA-1 digest. */
export const SIGNING_CERTIFICATE = '1.2.840.113549.1.9.16.2.12';
/** ESSCertIDv2, with any digest. */
export const SIGNING_CERTIFICATE_V2 = '1.2.840.113549.1.9.16.2.47';
