/** What object identifiers are called, as far as signatures, certificates and timestamps of code use them. */

import { ALGORITHM_NAMES } from './object-names-algorithms.ts';
import { MICROSOFT_NAMES } from './object-names-microsoft.ts';

/** RFC 5652, PKCS#7 and PKCS#9 (RFC 2985), RFC 3161, 5035 and 6211. */
const CMS: Readonly<Record<string, string>> = {
  '1.2.840.113549.1.7.1': 'data',
  '1.2.840.113549.1.7.2': 'signedData',
  '1.2.840.113549.1.9.1': 'emailAddress',
  '1.2.840.113549.1.9.2': 'unstructuredName',
  '1.2.840.113549.1.9.3': 'contentType',
  '1.2.840.113549.1.9.4': 'messageDigest',
  '1.2.840.113549.1.9.5': 'signingTime',
  '1.2.840.113549.1.9.6': 'counterSignature',
  '1.2.840.113549.1.9.13': 'signingDescription',
  '1.2.840.113549.1.9.15': 'S/MIME capabilities',
  '1.2.840.113549.1.9.15.1': 'prefer signed data',
  '1.2.840.113549.1.9.16.1.4': 'TSTInfo',
  '1.2.840.113549.1.9.16.2.11': 'encryptionKeyPreference',
  '1.2.840.113549.1.9.16.2.12': 'signingCertificate',
  '1.2.840.113549.1.9.16.2.14': 'timeStampToken',
  '1.2.840.113549.1.9.16.2.15': 'signaturePolicy',
  '1.2.840.113549.1.9.16.2.47': 'signingCertificateV2',
  '1.2.840.113549.1.9.16.3.3.1': 'RFC 3161 timestamp',
  '1.2.840.113549.1.9.25.3': 'randomNonce',
  '1.2.840.113549.1.9.25.4': 'sequenceNumber',
  '1.2.840.113549.1.9.52': 'CMSAlgorithmProtection',
  '1.2.840.113583.1.1.8': 'Adobe revocation information',
};

/** RFC 5280 and RFC 6960. */
const EXTENSIONS: Readonly<Record<string, string>> = {
  '2.5.29.9': 'subjectDirectoryAttributes',
  '2.5.29.14': 'subjectKeyIdentifier',
  '2.5.29.15': 'keyUsage',
  '2.5.29.16': 'privateKeyUsagePeriod',
  '2.5.29.17': 'subjectAltName',
  '2.5.29.18': 'issuerAltName',
  '2.5.29.19': 'basicConstraints',
  '2.5.29.30': 'nameConstraints',
  '2.5.29.31': 'cRLDistributionPoints',
  '2.5.29.32': 'certificatePolicies',
  '2.5.29.33': 'policyMappings',
  '2.5.29.35': 'authorityKeyIdentifier',
  '2.5.29.36': 'policyConstraints',
  '2.5.29.37': 'extKeyUsage',
  '2.5.29.46': 'freshestCRL',
  '2.5.29.54': 'inhibitAnyPolicy',
  '1.3.6.1.5.5.7.1.1': 'authorityInfoAccess',
  '1.3.6.1.5.5.7.1.3': 'qcStatements',
  '1.3.6.1.5.5.7.2.1': 'certification practice statement',
  '1.3.6.1.5.5.7.2.2': 'user notice',
  '1.3.6.1.5.5.7.48.1': 'OCSP',
  '1.3.6.1.5.5.7.48.1.5': 'OCSP no check',
  '1.3.6.1.5.5.7.48.2': 'caIssuers',
  '1.3.6.1.5.5.7.48.3': 'timeStamping (access)',
};

const PURPOSES: Readonly<Record<string, string>> = {
  '2.5.29.37.0': 'any purpose',
  '1.3.6.1.5.5.7.3.1': 'serverAuth',
  '1.3.6.1.5.5.7.3.2': 'clientAuth',
  '1.3.6.1.5.5.7.3.3': 'codeSigning',
  '1.3.6.1.5.5.7.3.4': 'emailProtection',
  '1.3.6.1.5.5.7.3.8': 'timeStamping',
  '1.3.6.1.5.5.7.3.9': 'OCSPSigning',
  '1.3.6.1.5.5.7.3.36': 'documentSigning',
  '1.2.840.113583.1.1.5': 'Adobe authentic documents',
  '2.16.840.1.113730.4.1': 'Netscape server gated crypto',
  '1.2.840.113635.100.4.1': 'Apple code signing',
};

/** Of the CA/Browser Forum, and of the authorities whose certificates sign or timestamp code. */
const POLICIES: Readonly<Record<string, string>> = {
  '2.5.29.32.0': 'any policy',
  '2.23.140.1.1': 'CA/Browser Forum extended validation',
  '2.23.140.1.2.1': 'CA/Browser Forum domain validated',
  '2.23.140.1.2.2': 'CA/Browser Forum organization validated',
  '2.23.140.1.3': 'CA/Browser Forum extended validation code signing',
  '2.23.140.1.4.1': 'CA/Browser Forum code signing',
  '2.23.140.1.4.2': 'CA/Browser Forum time stamping',
  '1.2.616.1.113527.2.5.1.4': 'Certum code signing',
  '1.2.616.1.113527.2.5.1.7': 'Certum extended validation code signing',
  '1.2.616.1.113527.2.5.1.11': 'Certum time stamping',
  '1.3.6.1.4.1.601.10.3.1': 'Bancomm time stamping',
  '1.3.6.1.4.1.601.10.3.2': 'Bancomm time attribute certificate',
  '1.3.6.1.4.1.601.10.4.1': 'Bancomm timing metrics',
  '1.3.6.1.4.1.601.10.4.2': 'Bancomm timing policy',
  '1.3.6.1.4.1.6449.1.2.1.3.1': 'Sectigo',
  '1.3.6.1.4.1.6449.1.2.1.3.2': 'Sectigo code signing',
  '1.3.6.1.4.1.6449.1.2.1.3.8': 'Sectigo time stamping',
  '1.3.6.1.4.1.6449.1.2.1.6.1': 'Sectigo extended validation code signing',
  '1.3.6.1.4.1.6449.2.1.1': 'Comodo time stamping',
  '1.3.6.1.4.1.4146.1.2': 'GlobalSign extended validation code signing',
  '1.3.6.1.4.1.4146.1.50': 'GlobalSign code signing',
  '1.3.6.1.4.1.4146.1.30': 'GlobalSign time stamping',
  '1.3.6.1.4.1.4146.1.31': 'GlobalSign time stamping, qualified',
  '1.3.6.1.4.1.4146.2.2': 'GlobalSign time stamping, SHA-1',
  '1.3.6.1.4.1.4146.2.3': 'GlobalSign time stamping, SHA-256',
  '2.16.840.1.113733.1.7.23.3': 'VeriSign/Symantec class 3',
  '2.16.840.1.113733.1.7.23.6': 'VeriSign/Symantec extended validation',
  '2.16.840.1.114412.3.1': 'DigiCert code signing',
  '2.16.840.1.114412.3.2': 'DigiCert extended validation code signing',
  '2.16.840.1.114412.3.11': 'DigiCert kernel mode code signing',
  '2.16.840.1.114412.7.1': 'DigiCert time stamping',
  '2.16.840.1.114028.10.1.2': 'Entrust extended validation',
  '2.16.840.1.114028.10.3.5': 'Entrust time stamping',
  '1.3.6.1.4.1.38064.1.3.3.1': 'SSL.com code signing',
  '1.3.6.1.4.1.38064.1.3.6.1': 'SSL.com time stamping',
  '1.3.6.1.4.1.13762.3': 'FreeTSA',
  '1.2.3.4.1': 'free time stamping authority, without a policy of its own',
};

const NAMES: ReadonlyMap<string, string> = new Map(
  [ALGORITHM_NAMES, MICROSOFT_NAMES, CMS, EXTENSIONS, PURPOSES, POLICIES].flatMap((table) => Object.entries(table)),
);

export interface NamedObject {
  /** Dotted. */
  readonly oid: string;
  /** undefined for what is not listed. */
  readonly name: string | undefined;
}

export function namedObject(oid: string): NamedObject {
  return { oid, name: NAMES.get(oid) };
}

/** undefined for what is not listed. */
export function objectName(oid: string): string | undefined {
  return NAMES.get(oid);
}
