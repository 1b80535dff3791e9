/** Names of Microsoft's objects (arc 1.3.6.1.4.1.311): Authenticode's structures and attributes, purposes, extensions, policies. */

const ARC = '1.3.6.1.4.1.311';

/** "Windows Authenticode Portable Executable Signature Format", and wintrust.h. */
const AUTHENTICODE: Readonly<Record<string, string>> = {
  [`${ARC}.2.1.4`]: 'SpcIndirectDataContent',
  [`${ARC}.2.1.10`]: 'SpcSpAgencyInfo',
  [`${ARC}.2.1.11`]: 'SpcStatementType',
  [`${ARC}.2.1.12`]: 'SpcSpOpusInfo',
  [`${ARC}.2.1.14`]: 'SpcCertExtensions',
  [`${ARC}.2.1.15`]: 'SpcPeImageData',
  [`${ARC}.2.1.18`]: 'SpcRawFileData',
  [`${ARC}.2.1.19`]: 'SpcStructuredStorageData',
  [`${ARC}.2.1.20`]: 'SpcJavaClassData',
  [`${ARC}.2.1.21`]: 'individual code signing',
  [`${ARC}.2.1.22`]: 'commercial code signing',
  [`${ARC}.2.1.25`]: 'SpcCabData',
  [`${ARC}.2.1.26`]: 'SpcMinimalCriteria',
  [`${ARC}.2.1.27`]: 'SpcFinancialCriteria',
  [`${ARC}.2.1.28`]: 'SpcLink',
  [`${ARC}.2.1.30`]: 'SpcSipInfo',
  [`${ARC}.2.2.1`]: 'trusted code signing CA list',
  [`${ARC}.2.2.2`]: 'trusted client authentication CA list',
  [`${ARC}.2.2.3`]: 'trusted server authentication CA list',
  [`${ARC}.2.3.1`]: 'page hashes (SHA-1)',
  [`${ARC}.2.3.2`]: 'page hashes (SHA-256)',
  [`${ARC}.2.4.1`]: 'nested signature',
  [`${ARC}.2.5.1`]: 'encrypted private key hash',
  [`${ARC}.2.6.1`]: 'sealing signature',
  [`${ARC}.2.6.2`]: 'sealing timestamp',
  [`${ARC}.3.2.1`]: 'timestamp request',
  [`${ARC}.3.3.1`]: 'RFC 3161 timestamp',
  [`${ARC}.10.1`]: 'certificate trust list',
  [`${ARC}.10.2`]: 'next update location',
};

/** wincrypt.h: extended key usages. */
const PURPOSES: Readonly<Record<string, string>> = {
  [`${ARC}.10.3.1`]: 'certificate trust list signing',
  [`${ARC}.10.3.2`]: 'Microsoft time stamping',
  [`${ARC}.10.3.4`]: 'encrypting file system',
  [`${ARC}.10.3.5`]: 'Windows hardware driver verification (WHQL)',
  [`${ARC}.10.3.5.1`]: 'Windows hardware driver attested verification',
  [`${ARC}.10.3.6`]: 'Windows system component verification',
  [`${ARC}.10.3.7`]: 'OEM Windows system component verification',
  [`${ARC}.10.3.8`]: 'embedded Windows system component verification',
  [`${ARC}.10.3.9`]: 'root list signer',
  [`${ARC}.10.3.10`]: 'qualified subordination',
  [`${ARC}.10.3.11`]: 'key recovery',
  [`${ARC}.10.3.12`]: 'document signing',
  [`${ARC}.10.3.13`]: 'lifetime signing',
  [`${ARC}.10.3.14`]: 'mobile device software',
  [`${ARC}.10.3.19`]: 'revoked list signer',
  [`${ARC}.10.3.20`]: 'Windows kits component',
  [`${ARC}.10.3.21`]: 'Windows RT verification',
  [`${ARC}.10.3.22`]: 'protected process light verification',
  [`${ARC}.10.3.23`]: 'Windows TCB component',
  [`${ARC}.10.3.24`]: 'protected process verification',
  [`${ARC}.10.3.25`]: 'Windows third-party application component',
  [`${ARC}.10.3.26`]: 'Windows software extension verification',
  [`${ARC}.10.3.27`]: 'preview build signing',
  [`${ARC}.10.3.30`]: 'disallowed list',
  [`${ARC}.10.3.39`]: 'Windows hardware driver extended verification',
  [`${ARC}.10.5.1`]: 'digital rights',
  [`${ARC}.10.6.1`]: 'key pack licenses',
  [`${ARC}.10.6.2`]: 'license server verification',
  [`${ARC}.20.2.1`]: 'certificate request agent',
  [`${ARC}.20.2.2`]: 'smart card logon',
  [`${ARC}.61.1.1`]: 'kernel mode code signing',
  [`${ARC}.61.4.1`]: 'early launch antimalware driver',
  [`${ARC}.61.5.1`]: 'HAL extension',
  [`${ARC}.76.3.1`]: 'Windows Store',
  [`${ARC}.76.5.1`]: 'dynamic code generator',
  [`${ARC}.76.6.1`]: 'Windows Update',
  [`${ARC}.76.8.1`]: 'Microsoft publisher',
  [`${ARC}.97.1.0`]: 'Azure trusted signing, public trust',
};

const EXTENSIONS: Readonly<Record<string, string>> = {
  [`${ARC}.20.2`]: 'certificate template name',
  [`${ARC}.20.2.3`]: 'user principal name',
  [`${ARC}.21.1`]: 'CA version',
  [`${ARC}.21.2`]: 'previous CA certificate hash',
  [`${ARC}.21.7`]: 'certificate template',
  [`${ARC}.21.10`]: 'application policies',
  [`${ARC}.60.2.1.1`]: 'jurisdictionOfIncorporationLocality',
  [`${ARC}.60.2.1.2`]: 'jurisdictionOfIncorporationState',
  [`${ARC}.60.2.1.3`]: 'jurisdictionOfIncorporationCountry',
};

/** Named so in Microsoft's certificates by the practice statement they point to. */
const POLICIES: Readonly<Record<string, string>> = {
  [`${ARC}.46.3`]: 'Microsoft PKI, certification practice statement',
  [`${ARC}.76.509.1.1`]: 'Microsoft PKI Services, certification practice statement',
};

export const MICROSOFT_NAMES: Readonly<Record<string, string>> = {
  ...AUTHENTICODE,
  ...PURPOSES,
  ...EXTENSIONS,
  ...POLICIES,
};
