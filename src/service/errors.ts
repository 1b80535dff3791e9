/** Errors of the Remote Code Signing API, in three categories (API 4.4 and 7, rule 1). */

import { CodesignError } from '../errors/codesign-error.ts';
import { defineErrors, defineWarnings } from '../errors/define-errors.ts';
import type { FailureReason } from '../http/request.ts';

const mayHaveBeenMade = (record?: string): string =>
  `The signature may have been made and counted${record === undefined ? '' : ` (record ${record})`}.`;

interface Broken {
  readonly origin: string;
  readonly detail: string;
  readonly attempts?: number | undefined;
  readonly record?: string | undefined;
}

interface AnswerDetails {
  readonly message?: string | undefined;
  readonly serviceCode?: number | undefined;
  readonly attempts?: number | undefined;
}

const said = (d: AnswerDetails): string => (d.message ? `: "${d.message}"` : '');
const codeAndWords = (d: AnswerDetails): string => `code ${d.serviceCode}${said(d)}`;
const CREDENTIALS_HINT =
  'Check the access key and access secret (CODESIGN_ACCESS_KEY and CODESIGN_ACCESS_SECRET, or what codesign-remote login stored), and that these credentials belong to this service address. The run sends no more requests.';
const UNAUTHORIZED = (d: AnswerDetails): string => `the service does not accept the credentials${said(d)}`;

/** The hint does not mention the digest, which the service also checks, because this program computes it (API 7). */
const PARAMETER_HINT = 'Check the certificate number (--code), and whether the service accepts this --algorithm.';

/**
 * A gateway returns these statuses when it stops waiting for a response: 499 comes from nginx, 520 to 527 come from
 * Cloudflare, and 598 and 599 come from several proxies.
 */
const GATEWAY_STATUSES: ReadonlySet<number> = new Set([
  408, 499, 502, 504, 520, 521, 522, 523, 524, 525, 526, 527, 598, 599,
]);

/** True if the status does not show what the service has done. */
export function isOfGateway(status: number): boolean {
  return GATEWAY_STATUSES.has(status);
}

/** The service counts only its 2xx responses (API 8), but a gateway may replace such a response. */
const perhapsCounted = (d: { operation: string; status: number; isUncertain: boolean }): string => {
  if (d.operation !== 'sign') return '';
  if (d.isUncertain) return `. ${mayHaveBeenMade()}`;
  return d.status >= 500 ? '. No signature was counted.' : '';
};
const afterAttempts = ({ attempts = 1 }: Pick<AnswerDetails, 'attempts'>): string =>
  attempts > 1 ? ` after ${attempts} attempts` : '';

function hintForStatus({ status, serviceCode }: AnswerDetails & { status: number }): string {
  if (serviceCode === 400) return PARAMETER_HINT;
  if (status === 404) return 'Check the path of the service address (--base-url): /v1/codesign/… is appended to it.';
  if (status < 500) {
    return 'Check the service address (--base-url), --code and the permissions of these credentials, or ask the operator.';
  }
  return 'Try again later, or ask the operator: the cause is the service or a proxy in front of it.';
}

export const auditErrors = defineErrors('usage', {
  'audit-log-unusable': {
    message: 'the audit log {path} cannot be written ({reason}); nothing was sent',
    hint: 'Set --audit-log (or CODESIGN_AUDIT_LOG) to a text file that the current user can read and write, in an existing folder.',
  },
});

export const recordErrors = defineErrors('local', {
  'record-id-unknown': {
    message: "the journal stores only a digest of the service's record id: {record}",
    hint: 'Only the run that requested the signature can report the outcome. The signature is not affected.',
  },
});

export const networkErrors = defineErrors('network', {
  'service-unreachable': {
    message: (d: Broken) =>
      `the service at ${d.origin} cannot be reached (${d.detail}${afterAttempts(d)}); nothing was sent`,
    hint: 'Check the service address (--base-url), the network and the firewall.',
  },
  'tls-untrusted': {
    message: 'the TLS certificate of {origin} is not trusted ({detail}); nothing was sent',
    hint: 'If the service uses a private certificate authority, set the root certificate of the authority with --ca-file, or store its path with codesign-remote config set caFile <pem>. If the service uses a public certificate authority, another server may be responding.',
  },
  'tls-failed': {
    message: 'no TLS connection to {origin} could be established ({detail}); nothing was sent',
    hint: 'Check the address. The service must support TLS 1.2 or later.',
  },
  'proxy-unreachable': {
    message: 'the proxy cannot be reached ({detail}); nothing was sent',
    hint: 'Check --proxy, HTTPS_PROXY and the proxy setting of the profile. Set NO_PROXY for hosts that need no proxy.',
  },
  'proxy-unauthorized': {
    message: 'the proxy requires other credentials ({detail}); nothing was sent',
    hint: 'Set the user name and password of the proxy in HTTPS_PROXY, never in --proxy: http://name:password@host:port, with special characters as %XX.',
  },
  'proxy-refused': {
    message: 'the proxy did not connect to {origin} ({detail}); nothing was sent',
    hint: 'Ask the operator of the proxy whether it allows this address. Set NO_PROXY for hosts that need no proxy.',
  },
  'sign-timed-out': {
    message: (d: Broken) =>
      `the service at ${d.origin} did not respond in time (${d.detail}${afterAttempts(d)}). ${mayHaveBeenMade(d.record)}`,
    hint: 'Run the command again for the files that failed, with a higher --timeout if the service is slow. A request with an unknown outcome is sent again only with --repeat-unknown.',
  },
  'connection-broken': {
    message: (d: Broken) =>
      `the connection to ${d.origin} broke before the response was complete (${d.detail}${afterAttempts(d)}). ${mayHaveBeenMade(d.record)}`,
    hint: 'Run the command again for the files that failed. A request with an unknown outcome is sent again only with --repeat-unknown.',
  },
  'report-unanswered': {
    message: 'the service at {origin} did not respond to report-sign ({detail})',
    hint: 'Run codesign-remote resume to send the report again. The signature is not affected.',
  },
  'check-unanswered': {
    message: 'the service at {origin} did not say whether it accepts the credentials ({detail})',
    hint: 'Run the command again later. No signature was requested.',
  },
  interrupted: {
    message: 'the run was interrupted before {operation} was {what}',
    hint: 'Run the command again.',
  },
});

export const statusErrors = defineErrors('http', {
  unauthorized: { message: UNAUTHORIZED, hint: CREDENTIALS_HINT },
  redirected: {
    message: (d: { status: number; location: string | undefined }) =>
      `the service responded with a redirect (HTTP ${d.status}${d.location ? ` to ${d.location}` : ''}), which is not followed because credentials would be sent along`,
    hint: 'Set --base-url to the address to which the service redirects.',
  },
  throttled: {
    message: (d: AnswerDetails & { status: number }) =>
      `the service limits the rate of calls (HTTP ${d.status}${afterAttempts(d)})`,
    hint: 'Wait, and run the command again with a lower --concurrency.',
  },
  'http-error': {
    message: (d: AnswerDetails & { operation: string; status: number; isUncertain: boolean }) =>
      `the service responded to ${d.operation} with HTTP ${d.status}${d.serviceCode === undefined ? '' : `, ${codeAndWords(d)}`}${afterAttempts(d)}${perhapsCounted(d)}`,
    hint: hintForStatus,
  },
});

export const businessErrors = defineErrors('business', {
  unauthorized: { message: UNAUTHORIZED, hint: CREDENTIALS_HINT },
  refused: {
    message: (d: AnswerDetails & { operation: string }) =>
      `the service rejected ${d.operation} with ${codeAndWords(d)}`,
    hint: (d: AnswerDetails) =>
      d.serviceCode === 400 ? PARAMETER_HINT : 'Ask the operator of the service what the code means.',
  },
  'no-signature': {
    message: 'the service reported success but returned no signature ({why})',
    hint: 'Report the problem to the operator of the service. The call should not have been counted, because it returned no signature.',
  },
  'signature-unreadable': {
    message: 'the service reported success, but its signature is not Base64',
    hint: 'Report the problem to the operator of the service. The run stopped, because the service counts such a signature.',
  },
  'malformed-answer': {
    message: (d: { operation: string; why: string; record?: string | undefined }) =>
      `the response to ${d.operation} does not follow the Remote Code Signing API (${d.why})${d.operation === 'sign' ? `. ${mayHaveBeenMade(d.record)}` : ''}`,
    hint: 'Check the service address (--base-url). Another web server or a proxy may be responding instead.',
  },
});

export function isUnauthorized(thrown: unknown): boolean {
  return thrown instanceof CodesignError && thrown.code === 'unauthorized';
}

/** Payment, permission and the proxy affect every file. */
const OF_ACCOUNT: ReadonlySet<number> = new Set([402, 403, 407]);

/**
 * True if the next call would also fail. `isProven` is true if the service has already made a signature for this
 * certificate number. Before that, a wrong number or address is the cause of a rejection, and not the file.
 */
export function stopsRun(error: CodesignError, isProven: boolean): boolean {
  const { code, httpStatus = 0, serviceCode = 0 } = error;
  if (code === 'unauthorized' || code === 'signature-unreadable' || isWithoutConnection(error)) return true;
  const isRejected = code === 'refused' || code === 'redirected' || (code === 'http-error' && httpStatus < 500);
  if (!isRejected || mayHaveBeenCounted(error)) return false;
  return !isProven || OF_ACCOUNT.has(httpStatus) || OF_ACCOUNT.has(serviceCode);
}

const NO_CONNECTION = [
  'service-unreachable',
  'tls-untrusted',
  'tls-failed',
  'proxy-unreachable',
  'proxy-unauthorized',
  'proxy-refused',
] as const satisfies readonly (keyof typeof networkErrors.table)[];
type NoConnection = (typeof NO_CONNECTION)[number];

export function codeWithoutConnection(reason: FailureReason): NoConnection {
  return NO_CONNECTION.find((code) => code === reason) ?? 'service-unreachable';
}

const NO_WORD = new Set<string>(['sign-timed-out', 'connection-broken', 'malformed-answer', 'signature-unreadable']);

/** True if no usable signature arrived, but the service may have made and counted one. */
export function mayHaveBeenCounted(error: CodesignError): boolean {
  const { code, category, httpStatus = 0 } = error;
  if (error.mayHaveBeenCounted !== undefined) return error.mayHaveBeenCounted;
  // An internal error may have occurred at any point of the call.
  return category === 'internal' || NO_WORD.has(code) || (code === 'http-error' && isOfGateway(httpStatus));
}

/** True if no response arrived, or only a response from a gateway. */
export function isUnanswered(error: CodesignError): boolean {
  const { code } = error;
  if (code === 'http-error') return mayHaveBeenCounted(error);
  return code === 'sign-timed-out' || code === 'connection-broken';
}

/** True if the service is overloaded and made no signature. */
export function isThrottled(error: CodesignError): boolean {
  return (error.httpStatus === 429 || error.httpStatus === 503) && !mayHaveBeenCounted(error);
}

export function isWithoutConnection(error: CodesignError): boolean {
  return NO_CONNECTION.some((code) => code === error.code);
}

export const serviceWarnings = defineWarnings({
  'audit-log-incomplete': 'the audit log {path} could not be written ({reason}): calls are missing from it',
  'check-accepted':
    'the service accepted a call that it should have rejected: ask its operator whether it counted a signature',
  'check-unclear':
    'the service did not reject the credentials, but responded {answer} (HTTP {status}): check the service address, and sign a first file to be sure',
});
