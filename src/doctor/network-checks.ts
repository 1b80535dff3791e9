/** Checks that call servers. None of these checks requests a signature. */

import { randomBytes } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { TLSSocket } from 'node:tls';
import { composeHttp, composeTimestamps, readTimestampRoots, readTlsRoots } from '../app/compose-connection.ts';
import { composeCredentialsCommand } from '../app/compose-credentials.ts';
import { buildPath } from '../certificates/build-path.ts';
import { parseCertificate } from '../certificates/certificate.ts';
import { dateOf } from '../certificates/signing-chain.ts';
import { createAddressBook } from '../http/addresses.ts';
import { createConnector, targetOf } from '../http/connect.ts';
import { ConnectFailure } from '../http/errors.ts';
import { LONGEST_TO_CONNECT_MILLISECONDS } from '../http/http.ts';
import { proxyFor } from '../http/proxy.ts';
import { resolveTimestamps, type TimestampSettings } from '../options/resolve.ts';
import { OPTIONS } from '../options/table.ts';
import { codeWithoutConnection, networkErrors } from '../service/errors.ts';
import { signingWarnings } from '../signing/errors.ts';
import { MAX_CLOCK_DIFFERENCE } from '../timestamp/check-answer.ts';
import { readTimestampToken } from '../timestamp/read-token.ts';
import { loadTrustRoots } from '../verifying/roots.ts';
import type { Passed } from './check.ts';
import { doctorErrors, doctorWarnings } from './errors.ts';
import { found, type Setup } from './local-checks.ts';

const NOTED_CLOCK_DIFFERENCE = 60_000;
const ANSWER_LIMIT = 4 * 1024 * 1024;

function serviceOf({ settings }: Setup): { readonly url: URL; readonly proxy: ReturnType<typeof proxyFor> } {
  const { baseUrl, proxies } = found(settings);
  const url = found(baseUrl);
  return { url, proxy: proxyFor(url, proxies()) };
}

export async function checkHostName(setup: Setup): Promise<Passed> {
  const { url, proxy } = serviceOf(setup);
  const { hostname } = targetOf(proxy?.url ?? url);
  const whose = proxy === undefined ? '' : ', the proxy';
  try {
    const addresses = await orTimeOut(lookup(hostname, { all: true }), found(setup.settings).timeout);
    return { text: `${hostname}${whose}: ${addresses.map(({ address }) => address).join(', ')}` };
  } catch (cause) {
    const details = { origin: url.origin, detail: cause instanceof Error ? cause.message : String(cause) };
    throw networkErrors(proxy === undefined ? 'service-unreachable' : 'proxy-unreachable', details, { cause });
  }
}

/** A name server that does not answer can keep a query waiting for longer than any request may take. */
async function orTimeOut<Value>(query: Promise<Value>, timeout: number): Promise<Value> {
  const milliseconds = Math.min(timeout, LONGEST_TO_CONNECT_MILLISECONDS);
  const timer = new AbortController();
  const late = sleep(milliseconds, undefined, { signal: timer.signal }).then(() => {
    throw new Error(`no response from the name server within ${milliseconds / 1000} s`);
  });
  try {
    return await Promise.race([query, late]);
  } finally {
    timer.abort();
    late.catch(() => undefined);
  }
}

export async function checkConnection(setup: Setup): Promise<Passed> {
  const { url, proxy } = serviceOf(setup);
  const settings = found(setup.settings);
  const roots = await readTlsRoots(settings, setup.env);
  const milliseconds = Math.min(settings.timeout, LONGEST_TO_CONNECT_MILLISECONDS);
  const connector = createConnector(roots, milliseconds, createAddressBook());
  const connect = proxy === undefined ? connector.connect : connector.through(proxy);
  try {
    const socket = await connect(targetOf(url));
    const text = `${url.origin}${proxy === undefined ? '' : ` through ${proxy.url.origin}`}, ${securityOf(socket)}`;
    socket.destroy();
    return { text };
  } catch (cause) {
    if (!(cause instanceof ConnectFailure)) throw cause;
    throw networkErrors(codeWithoutConnection(cause.reason), { origin: url.origin, detail: cause.message }, { cause });
  }
}

function securityOf(socket: object): string {
  if (!(socket instanceof TLSSocket)) return 'without TLS';
  const { issuer, valid_to } = socket.getPeerCertificate();
  return `${socket.getProtocol()}, certificate of ${issuer.CN ?? issuer.O ?? 'an unnamed authority'}, valid until ${dateOf(new Date(valid_to))}`;
}

/** Any HTTP response contains a date (RFC 9110, section 6.6.1). No credentials are sent. */
export async function checkClock(setup: Setup): Promise<Passed> {
  const { url } = serviceOf(setup);
  const settings = found(setup.settings);
  const http = await composeHttp(settings, setup.env);
  try {
    const outcome = await http.get({
      url,
      accept: 'application/json',
      deadlineMilliseconds: settings.timeout,
      sizeLimit: ANSWER_LIMIT,
    });
    const { headers } = (outcome.kind === 'answer' ? outcome : outcome.head) ?? {};
    const difference = Math.abs(Date.now() - Date.parse(headers?.get('date') ?? ''));
    if (Number.isNaN(difference)) return { text: 'not known', notes: [doctorWarnings('clock-unknown')] };
    if (difference > MAX_CLOCK_DIFFERENCE) {
      throw doctorErrors('clock-differs', { minutes: Math.round(difference / 60_000) });
    }
    const seconds = Math.round(difference / 1000);
    if (difference <= NOTED_CLOCK_DIFFERENCE) return { text: 'agrees with the service within a minute' };
    return { text: 'differs from the service', notes: [doctorWarnings('clock-imprecise', { seconds })] };
  } finally {
    await http.close();
  }
}

export async function checkAccess(setup: Setup): Promise<Passed> {
  const { options, env, credentials } = setup;
  const composition = await composeCredentialsCommand(options, env, { mayBeNew: true });
  const { warnings } = await composition.check(serviceOf(setup).url, found(credentials));
  return {
    text: 'the service does not reject the credentials; whether they may use the number shows only with a signature',
    notes: warnings,
  };
}

/** Fails if the settings require a timestamp. */
export function checkWithoutAuthority({ settings, chain, env }: Setup): Passed {
  const { isDeclined } = resolveTimestamps(found(settings).look, OPTIONS.algorithm.default, env);
  if (isDeclined || chain === undefined) return { text: 'no authority' };
  const date = dateOf(chain.leaf.notAfter);
  return { text: 'no authority', notes: [signingWarnings('timestamp-not-configured', { date })] };
}

/** Requests one timestamp, and checks it like `sign`. */
export async function checkAuthority(setup: Setup, timestamps: TimestampSettings): Promise<Passed> {
  const settings = found(setup.settings);
  const content = randomBytes(32);
  const http = await composeHttp(settings, setup.env);
  try {
    const roots = await readTimestampRoots(timestamps);
    const authority = found(composeTimestamps(settings, timestamps, http, roots, () => undefined));
    const { token, time, authority: name } = await authority.stamp(content);
    const isKnown = roots !== undefined || (await isRootKnown(token, content, time, setup));
    const notes = isKnown ? [] : [doctorWarnings('timestamp-root-unknown')];
    return { text: `${name} returned a valid timestamp`, notes };
  } finally {
    await http.close();
  }
}

/** Returns whether the token leads to one of the system's roots. */
async function isRootKnown(token: Uint8Array, content: Uint8Array, time: Date, { env }: Setup): Promise<boolean> {
  const { signerCertificate, certificates } = readTimestampToken(token, content);
  const { roots } = await loadTrustRoots({ files: [], environment: env });
  const leaf = parseCertificate(found(signerCertificate), 'timestamp');
  const pool = certificates.map((der) => parseCertificate(der, 'timestamp'));
  return buildPath(leaf, pool, roots, time, 'time-stamping').isTrusted;
}
