/** The settings there are: option, variable and default of each, what its value must be, and which files may hold it. */

import { parseBaseUrl } from './base-url.ts';
import { readProxy } from './proxy-values.ts';
import { readTimestampPolicy, readTimestampUrl } from './timestamp-values.ts';
import {
  EXTRA_POLICIES,
  FILENAME_MASKS,
  type Given,
  REPORT_FAILURES,
  readAlgorithm,
  readConcurrency,
  readMaxSignatures,
  readMonthlyBudget,
  readText,
  readTimeout,
  readWebPage,
  readWord,
} from './values.ts';

export interface SettingDefinition {
  readonly option: string;
  readonly variable?: string;
  /** As it is typed; undefined where there is none, or it depends. */
  readonly otherwise?: string;
  /** How it stands in a file. A code is a number that may begin with zeros: text, or a number all the same. */
  readonly form: 'text' | 'number' | 'code' | 'list';
  /** Several values stand in the variable, with blanks between. */
  readonly isSplit?: true;
  /** What stands in a file is relative to the file's folder. */
  readonly isPath?: true;
  /** Whether a project file may hold it: what a cloned repository may decide. */
  readonly inProject: boolean;
  readonly inProfile: boolean;
  /** Throws `invalid-setting`, or what is wrong with an address. */
  check(given: Given): unknown;
}

const PROFILE_ONLY = { inProject: false, inProfile: true } as const;
const BOTH = { inProject: true, inProfile: true } as const;

/** In the order in which they are listed. */
export const SETTINGS = {
  code: { option: '--code', variable: 'CODESIGN_CODE', form: 'code', ...PROFILE_ONLY, check: readText },
  certificate: {
    option: '--certificate',
    variable: 'CODESIGN_CERTIFICATE',
    form: 'list',
    isPath: true,
    ...PROFILE_ONLY,
    check: readText,
  },
  algorithm: {
    option: '--algorithm',
    variable: 'CODESIGN_ALGORITHM',
    otherwise: 'SHA256',
    form: 'text',
    ...BOTH,
    check: (given) => readAlgorithm(given, 'SHA256'),
  },
  timestampUrl: {
    option: '--timestamp-url',
    variable: 'CODESIGN_TIMESTAMP_URL',
    form: 'list',
    isSplit: true,
    ...BOTH,
    check: readTimestampUrl,
  },
  timestampAlgorithm: {
    option: '--timestamp-algorithm',
    form: 'text',
    ...PROFILE_ONLY,
    check: (given) => readAlgorithm(given, 'SHA256'),
  },
  timestampPolicy: { option: '--timestamp-policy', form: 'text', ...PROFILE_ONLY, check: readTimestampPolicy },
  timestampRoots: {
    option: '--timestamp-roots',
    variable: 'CODESIGN_TIMESTAMP_ROOTS',
    form: 'text',
    isPath: true,
    ...PROFILE_ONLY,
    check: readText,
  },
  description: { option: '--description', form: 'text', ...BOTH, check: readText },
  url: { option: '--url', form: 'text', ...BOTH, check: readWebPage },
  signerName: { option: '--signer-name', form: 'text', ...BOTH, check: readText },
  output: { option: '--output', form: 'text', isPath: true, inProject: true, inProfile: false, check: readText },
  concurrency: {
    option: '--concurrency',
    variable: 'CODESIGN_CONCURRENCY',
    otherwise: '4',
    form: 'number',
    ...BOTH,
    check: readConcurrency,
  },
  timeout: {
    option: '--timeout',
    variable: 'CODESIGN_TIMEOUT',
    otherwise: '30',
    form: 'number',
    ...PROFILE_ONLY,
    check: readTimeout,
  },
  maxSignatures: {
    option: '--max-signatures',
    variable: 'CODESIGN_MAX_SIGNATURES',
    form: 'number',
    ...PROFILE_ONLY,
    check: readMaxSignatures,
  },
  monthlyBudget: {
    option: '--monthly-budget',
    variable: 'CODESIGN_MONTHLY_BUDGET',
    form: 'number',
    ...PROFILE_ONLY,
    check: readMonthlyBudget,
  },
  maskFilename: {
    option: '--mask-filename',
    otherwise: 'basename',
    form: 'text',
    ...BOTH,
    check: (given) => readWord(given, FILENAME_MASKS, 'basename'),
  },
  extra: {
    option: '--extra',
    variable: 'CODESIGN_EXTRA',
    otherwise: 'all',
    form: 'text',
    ...PROFILE_ONLY,
    check: (given) => readWord(given, EXTRA_POLICIES, 'all'),
  },
  reportFailures: {
    option: '--report-failures',
    variable: 'CODESIGN_REPORT_FAILURES',
    otherwise: 'pending',
    form: 'text',
    ...PROFILE_ONLY,
    check: (given) => readWord(given, REPORT_FAILURES, 'pending'),
  },
  caFile: {
    option: '--ca-file',
    variable: 'CODESIGN_CA_FILE',
    form: 'text',
    isPath: true,
    ...PROFILE_ONLY,
    check: readText,
  },
  auditLog: {
    option: '--audit-log',
    variable: 'CODESIGN_AUDIT_LOG',
    form: 'text',
    isPath: true,
    ...PROFILE_ONLY,
    check: readText,
  },
  // Its variables are two, and everybody's: HTTPS_PROXY and HTTP_PROXY.
  proxy: { option: '--proxy', form: 'text', ...PROFILE_ONLY, check: readProxy },
} as const satisfies Readonly<Record<string, SettingDefinition>>;

export type SettingKey = keyof typeof SETTINGS;

export const SETTING_KEYS = Object.keys(SETTINGS) as readonly SettingKey[];

export function definitionOf(key: SettingKey): SettingDefinition {
  return SETTINGS[key];
}

/** The address of one environment: not a key like the others, for which of them is meant has to be chosen first. */
export function checkAddress(given: Given): void {
  parseBaseUrl(given.value, given.name);
}
