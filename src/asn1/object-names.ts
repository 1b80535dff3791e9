import { algorithmName } from './algorithm-identifiers.ts';
import * as known from './object-identifiers.ts';

const NAMES: Readonly<Record<string, string>> = {
  // CMS, PKCS#7 and PKCS#9, timestamps (RFC 5652, 2985, 3161, 5035, 6211).
  [known.DATA]: 'data',
  [known.SIGNED_DATA]: 'signedData',
  '1.2.840.113549.1.9.2': 'unstructuredName',
  [known.CONTENT_TYPE]: 'contentType',
  [known.MESSAGE_DIGEST]: 'messageDigest',
  [known.SIGNING_TIME]: 'signingTime',
  [known.COUNTER_SIGNATURE]: 'counterSignature',
  '1.2.840.113549.1.9.13': 'signingDescription',
  '1.2.840.113549.1.9.15': 'S/MIME capabilities',
  '1.2.840.113549.1.9.15.1': 'prefer signed data',
  [known.TST_INFO]: 'TSTInfo',
  '1.2.840.113549.1.9.16.2.11': 'encryptionKeyPreference',
  [known.SIGNING_CERTIFICATE]: 'signingCertificate',
  [known.TIMESTAMP_TOKEN]: 'timeStampToken',
  '1.2.840.113549.1.9.16.2.15': 'signaturePolicy',
  [known.COMMITMENT_TYPE]: 'commitmentType',
  [known.PROOF_OF_ORIGIN]: 'proof of origin',
  [known.PROOF_OF_RECEIPT]: 'proof of receipt',
  [known.SIGNING_CERTIFICATE_V2]: 'signingCertificateV2',
  [known.NUGET_SERVICE_INDEX]: 'NuGet service index',
  [known.NUGET_OWNERS]: 'NuGet package owners',
  '1.2.840.113549.1.9.16.3.3.1': 'RFC 3161 timestamp',
  '1.2.840.113549.1.9.25.3': 'randomNonce',
  '1.2.840.113549.1.9.25.4': 'sequenceNumber',
  '1.2.840.113549.1.9.52': 'CMSAlgorithmProtection',
  '1.2.840.113583.1.1.8': 'Adobe revocation information',

  // Extended key usages.
  [known.ANY_PURPOSE]: 'any purpose',
  [known.SERVER_AUTH]: 'serverAuth',
  '1.3.6.1.5.5.7.3.2': 'clientAuth',
  [known.CODE_SIGNING]: 'codeSigning',
  [known.EMAIL_PROTECTION]: 'emailProtection',
  [known.TIME_STAMPING]: 'timeStamping',
  [known.REMOTE_DESKTOP]: 'remoteDesktop',
  [known.OCSP_SIGNING]: 'OCSPSigning',
  [known.DOCUMENT_SIGNING]: 'documentSigning',
  [known.ADOBE_DOCUMENT_SIGNING]: 'Adobe authentic documents',
  '1.2.840.113635.100.4.1': 'Apple code signing',

  // Certificate policies of the CA/Browser Forum, and of authorities that issue certificates for code signing or
  // timestamping.
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

  // Names from "Windows Authenticode Portable Executable Signature Format" and wintrust.h.
  [known.SPC_INDIRECT_DATA]: 'SpcIndirectDataContent',
  '1.3.6.1.4.1.311.2.1.10': 'SpcSpAgencyInfo',
  [known.SPC_STATEMENT_TYPE]: 'SpcStatementType',
  [known.SPC_SP_OPUS_INFO]: 'SpcSpOpusInfo',
  [known.SPC_PE_IMAGE_DATA]: 'SpcPeImageData',
  [known.SPC_INDIVIDUAL_PURPOSE]: 'individual code signing',
  [known.SPC_COMMERCIAL_PURPOSE]: 'commercial code signing',
  [known.SPC_CAB_DATA]: 'SpcCabData',
  '1.3.6.1.4.1.311.2.1.28': 'SpcLink',
  [known.SPC_SIP_INFO]: 'SpcSipInfo',
  [known.SPC_PAGE_HASHES_V1]: 'page hashes (SHA-1)',
  [known.SPC_PAGE_HASHES_V2]: 'page hashes (SHA-256)',
  [known.SPC_NESTED_SIGNATURE]: 'nested signature',
  '1.3.6.1.4.1.311.2.4.2': 'intent to seal',
  '1.3.6.1.4.1.311.2.4.3': 'sealing signature',
  '1.3.6.1.4.1.311.2.4.4': 'sealing timestamp',
  '1.3.6.1.4.1.42921.1.2.1': 'unauthenticated data of osslsigncode',
  [known.SPC_RFC3161_TIMESTAMP]: 'RFC 3161 timestamp',
  '1.3.6.1.4.1.311.10.1': 'certificate trust list',
  '1.3.6.1.4.1.311.10.2': 'next update location',

  // Microsoft's extended key usages (wincrypt.h).
  '1.3.6.1.4.1.311.10.3.2': 'Microsoft time stamping',
  '1.3.6.1.4.1.311.10.3.5': 'Windows hardware driver verification (WHQL)',
  '1.3.6.1.4.1.311.10.3.5.1': 'Windows hardware driver attested verification',
  '1.3.6.1.4.1.311.10.3.6': 'Windows system component verification',
  [known.MICROSOFT_DOCUMENT_SIGNING]: 'document signing',
  [known.LIFETIME_SIGNING]: 'lifetime signing',
  '1.3.6.1.4.1.311.10.3.20': 'Windows kits component',
  '1.3.6.1.4.1.311.10.3.21': 'Windows RT verification',
  '1.3.6.1.4.1.311.10.3.22': 'protected process light verification',
  '1.3.6.1.4.1.311.10.3.23': 'Windows TCB component',
  '1.3.6.1.4.1.311.10.3.24': 'protected process verification',
  '1.3.6.1.4.1.311.10.3.25': 'Windows third-party application component',
  '1.3.6.1.4.1.311.10.3.26': 'Windows software extension verification',
  '1.3.6.1.4.1.311.10.3.27': 'preview build signing',
  '1.3.6.1.4.1.311.10.3.39': 'Windows hardware driver extended verification',
  '1.3.6.1.4.1.311.61.1.1': 'kernel mode code signing',
  '1.3.6.1.4.1.311.61.4.1': 'early launch antimalware driver',
  '1.3.6.1.4.1.311.61.5.1': 'HAL extension',
  '1.3.6.1.4.1.311.76.3.1': 'Windows Store',
  '1.3.6.1.4.1.311.76.5.1': 'dynamic code generator',
  '1.3.6.1.4.1.311.76.6.1': 'Windows Update',
  '1.3.6.1.4.1.311.76.8.1': 'Microsoft publisher',
  '1.3.6.1.4.1.311.97.1.0': 'Azure trusted signing, public trust',

  // Microsoft's certificate policies, with their names from the practice statements to which its certificates link.
  '1.3.6.1.4.1.311.46.3': 'Microsoft PKI, certification practice statement',
  '1.3.6.1.4.1.311.76.509.1.1': 'Microsoft PKI Services, certification practice statement',

  // Ciphers, which the attribute for S/MIME capabilities lists together with digests.
  '1.2.840.113549.3.2': 'RC2-CBC',
  '1.2.840.113549.3.4': 'RC4',
  '1.2.840.113549.3.7': '3DES-CBC',
  '1.3.14.3.2.7': 'DES-CBC',
  '2.16.840.1.101.3.4.1.2': 'AES-128-CBC',
  '2.16.840.1.101.3.4.1.6': 'AES-128-GCM',
  '2.16.840.1.101.3.4.1.22': 'AES-192-CBC',
  '2.16.840.1.101.3.4.1.26': 'AES-192-GCM',
  '2.16.840.1.101.3.4.1.42': 'AES-256-CBC',
  '2.16.840.1.101.3.4.1.46': 'AES-256-GCM',
  '1.2.643.2.2.9': 'GOST R 34.11-94',
  '1.2.643.2.2.21': 'GOST 28147-89',
};

export interface NamedObject {
  readonly oid: string;
  readonly name: string | undefined;
}

export function namedObject(oid: string): NamedObject {
  return { oid, name: objectName(oid) };
}

export function objectName(oid: string): string | undefined {
  return Object.hasOwn(NAMES, oid) ? NAMES[oid] : algorithmName(oid);
}
