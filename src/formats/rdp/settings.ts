/**
 * Settings that a signature can cover, in the order in which the scope lists them. All other settings can be changed
 * after signing.
 */

export const FULL_ADDRESS = 'Full Address';
export const ALTERNATE_FULL_ADDRESS = 'Alternate Full Address';

const NAMES = [
  FULL_ADDRESS,
  ALTERNATE_FULL_ADDRESS,
  'PCB',
  'Use Redirection Server Name',
  'Server Port',
  'Negotiate Security Layer',
  'EnableCredSspSupport',
  'DisableConnectionSharing',
  'AutoReconnection Enabled',
  'GatewayHostname',
  'GatewayUsageMethod',
  'GatewayProfileUsageMethod',
  'GatewayCredentialsSource',
  'Support URL',
  'PromptCredentialOnce',
  'Require pre-authentication',
  'Pre-authentication server address',
  'Alternate Shell',
  'Shell Working Directory',
  'RemoteApplicationProgram',
  'RemoteApplicationExpandWorkingdir',
  'RemoteApplicationMode',
  'RemoteApplicationGuid',
  'RemoteApplicationName',
  'RemoteApplicationIcon',
  'RemoteApplicationFile',
  'RemoteApplicationFileExtensions',
  'RemoteApplicationCmdLine',
  'RemoteApplicationExpandCmdLine',
  'Prompt For Credentials',
  'Authentication Level',
  'AudioMode',
  'RedirectDrives',
  'RedirectPrinters',
  'RedirectCOMPorts',
  'RedirectSmartCards',
  'RedirectPOSDevices',
  'RedirectClipboard',
  'DevicesToRedirect',
  'DrivesToRedirect',
  'LoadBalanceInfo',
  'RedirectDirectX',
  'RDGIsKDCProxy',
  'KDCProxyName',
  'EnableRdsAadAuth',
  'RedirectWebAuthn',
  'RedirectTextProcessing',
  'allowed security protocols',
] as const;

/** The keys of this table are in lower case, because files can use any case. */
export const COVERED_SETTINGS: ReadonlyMap<string, string> = new Map(NAMES.map((name) => [name.toLowerCase(), name]));
