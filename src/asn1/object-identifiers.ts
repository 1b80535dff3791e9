// CMS, PKCS#7 and PKCS#9 (RFC 5652, 2985), timestamps (RFC 3161, 5035).
export const DATA = '1.2.840.113549.1.7.1';
export const SIGNED_DATA = '1.2.840.113549.1.7.2';
export const ENCRYPTED_DATA = '1.2.840.113549.1.7.6';
export const EMAIL_ADDRESS = '1.2.840.113549.1.9.1';
export const CONTENT_TYPE = '1.2.840.113549.1.9.3';
export const MESSAGE_DIGEST = '1.2.840.113549.1.9.4';
export const SIGNING_TIME = '1.2.840.113549.1.9.5';
/** Countersignatures are the older kind of timestamp (PKCS#9, section 6.6; RFC 5652, section 11.4). */
export const COUNTER_SIGNATURE = '1.2.840.113549.1.9.6';
export const TST_INFO = '1.2.840.113549.1.9.16.1.4';
export const SIGNING_CERTIFICATE = '1.2.840.113549.1.9.16.2.12';
export const TIMESTAMP_TOKEN = '1.2.840.113549.1.9.16.2.14';
export const COMMITMENT_TYPE = '1.2.840.113549.1.9.16.2.16';
export const PROOF_OF_ORIGIN = '1.2.840.113549.1.9.16.6.1';
export const PROOF_OF_RECEIPT = '1.2.840.113549.1.9.16.6.2';
export const SIGNING_CERTIFICATE_V2 = '1.2.840.113549.1.9.16.2.47';

// PKCS#12 (RFC 7292) and its encryption (RFC 8018).
export const X509_CERTIFICATE = '1.2.840.113549.1.9.22.1';
export const CERTIFICATE_BAG = '1.2.840.113549.1.12.10.1.3';
export const SAFE_CONTENTS_BAG = '1.2.840.113549.1.12.10.1.6';
export const PBES2 = '1.2.840.113549.1.5.13';

// Extensions of certificates and CRLs (RFC 5280, 9608).
export const SUBJECT_KEY_IDENTIFIER = '2.5.29.14';
export const KEY_USAGE = '2.5.29.15';
export const SUBJECT_ALTERNATIVE_NAME = '2.5.29.17';
export const ISSUER_ALTERNATIVE_NAME = '2.5.29.18';
export const BASIC_CONSTRAINTS = '2.5.29.19';
export const CRL_NUMBER = '2.5.29.20';
export const REASON_CODE = '2.5.29.21';
export const HOLD_INSTRUCTION = '2.5.29.23';
export const INVALIDITY_DATE = '2.5.29.24';
export const DELTA_CRL_INDICATOR = '2.5.29.27';
export const ISSUING_DISTRIBUTION_POINT = '2.5.29.28';
export const CERTIFICATE_ISSUER = '2.5.29.29';
export const NAME_CONSTRAINTS = '2.5.29.30';
export const CRL_DISTRIBUTION_POINTS = '2.5.29.31';
export const CERTIFICATE_POLICIES = '2.5.29.32';
export const POLICY_MAPPINGS = '2.5.29.33';
export const AUTHORITY_KEY_IDENTIFIER = '2.5.29.35';
export const POLICY_CONSTRAINTS = '2.5.29.36';
export const EXTENDED_KEY_USAGE = '2.5.29.37';
export const INHIBIT_ANY_POLICY = '2.5.29.54';
/** Marks certificates that are never revoked, because they are valid only for hours (RFC 9608). */
export const NO_REVOCATION_AVAILABLE = '2.5.29.56';
export const AUTHORITY_INFORMATION = '1.3.6.1.5.5.7.1.1';
export const CERTIFICATE_TRANSPARENCY = '1.3.6.1.4.1.11129.2.4.5';

// OCSP (RFC 6960).
export const OCSP = '1.3.6.1.5.5.7.48.1';
export const OCSP_BASIC_RESPONSE = '1.3.6.1.5.5.7.48.1.1';
export const OCSP_NO_CHECK = '1.3.6.1.5.5.7.48.1.5';

// Extended key usages of certificates.
export const ANY_PURPOSE = '2.5.29.37.0';
export const SERVER_AUTH = '1.3.6.1.5.5.7.3.1';
export const CODE_SIGNING = '1.3.6.1.5.5.7.3.3';
export const EMAIL_PROTECTION = '1.3.6.1.5.5.7.3.4';
export const DOCUMENT_SIGNING = '1.3.6.1.5.5.7.3.36';
export const MICROSOFT_DOCUMENT_SIGNING = '1.3.6.1.4.1.311.10.3.12';
export const ADOBE_DOCUMENT_SIGNING = '1.2.840.113583.1.1.5';
export const TIME_STAMPING = '1.3.6.1.5.5.7.3.8';
export const OCSP_SIGNING = '1.3.6.1.5.5.7.3.9';
export const REMOTE_DESKTOP = '1.3.6.1.4.1.311.54.1.2';
export const LIFETIME_SIGNING = '1.3.6.1.4.1.311.10.3.13';

// Microsoft, "Windows Authenticode Portable Executable Signature Format".
export const SPC_INDIRECT_DATA = '1.3.6.1.4.1.311.2.1.4';
export const SPC_STATEMENT_TYPE = '1.3.6.1.4.1.311.2.1.11';
export const SPC_SP_OPUS_INFO = '1.3.6.1.4.1.311.2.1.12';
export const SPC_PE_IMAGE_DATA = '1.3.6.1.4.1.311.2.1.15';
export const SPC_INDIVIDUAL_PURPOSE = '1.3.6.1.4.1.311.2.1.21';
export const SPC_CAB_DATA = '1.3.6.1.4.1.311.2.1.25';
export const SPC_CAB_DATA_2 = '1.3.6.1.4.1.311.2.1.28';
export const SPC_SIP_INFO = '1.3.6.1.4.1.311.2.1.30';
export const SPC_COMMERCIAL_PURPOSE = '1.3.6.1.4.1.311.2.1.22';
export const SPC_PAGE_HASHES_V1 = '1.3.6.1.4.1.311.2.3.1';
export const SPC_PAGE_HASHES_V2 = '1.3.6.1.4.1.311.2.3.2';
export const SPC_NESTED_SIGNATURE = '1.3.6.1.4.1.311.2.4.1';
export const CERTIFICATE_TRUST_LIST = '1.3.6.1.4.1.311.10.1';
export const CATALOG_LIST = '1.3.6.1.4.1.311.12.1.1';
export const CATALOG_MEMBER = '1.3.6.1.4.1.311.12.1.2';
/** Type of a catalog member that a SHA-256 digest identifies. */
export const CATALOG_MEMBER_V2 = '1.3.6.1.4.1.311.12.1.3';
export const CATALOG_NAME_VALUE = '1.3.6.1.4.1.311.12.2.1';
export const CATALOG_MEMBER_INFO_V2 = '1.3.6.1.4.1.311.12.2.3';
export const SPC_RFC3161_TIMESTAMP = '1.3.6.1.4.1.311.3.3.1';
/** Unsigned attributes that can contain a timestamp. */
export const TIMESTAMP_TYPES: readonly string[] = [SPC_RFC3161_TIMESTAMP, COUNTER_SIGNATURE, TIMESTAMP_TOKEN];

// NuGet writes these attributes in repository signatures.
export const NUGET_SERVICE_INDEX = '1.3.6.1.4.1.311.84.2.1.1.1';
export const NUGET_OWNERS = '1.3.6.1.4.1.311.84.2.1.1.2';

export const COMMON_NAME = '2.5.4.3';
export const COUNTRY = '2.5.4.6';
export const ORGANIZATION = '2.5.4.10';
export const ORGANIZATIONAL_UNIT = '2.5.4.11';

export const NAME_ATTRIBUTES: Readonly<Record<string, string>> = {
  [COMMON_NAME]: 'CN',
  '2.5.4.4': 'SN',
  '2.5.4.5': 'serialNumber',
  '2.5.4.6': 'C',
  '2.5.4.7': 'L',
  '2.5.4.8': 'ST',
  '2.5.4.9': 'street',
  [ORGANIZATION]: 'O',
  '2.5.4.11': 'OU',
  '2.5.4.12': 'title',
  '2.5.4.13': 'description',
  '2.5.4.15': 'businessCategory',
  '2.5.4.16': 'postalAddress',
  '2.5.4.17': 'postalCode',
  '2.5.4.18': 'postOfficeBox',
  '2.5.4.20': 'telephoneNumber',
  '2.5.4.41': 'name',
  '2.5.4.42': 'GN',
  '2.5.4.46': 'dnQualifier',
  '2.5.4.97': 'organizationIdentifier',
  '0.9.2342.19200300.100.1.1': 'UID',
  '0.9.2342.19200300.100.1.3': 'mail',
  '0.9.2342.19200300.100.1.25': 'DC',
  '1.3.6.1.4.1.311.60.2.1.1': 'jurisdictionL',
  '1.3.6.1.4.1.311.60.2.1.2': 'jurisdictionST',
  '1.3.6.1.4.1.311.60.2.1.3': 'jurisdictionC',
  [EMAIL_ADDRESS]: 'emailAddress',
};
