/** Sections 4 and 5 (rule 5): HTTPS, TLS versions and request headers. */

import tls from 'node:tls';
import { describeAnswer, isRefused, isSigned, isSignedOrRefused } from '../check-answer.ts';
import { type Deployment, REPORT, SIGN } from '../deployment.ts';
import { readEnvelope } from '../envelope.ts';
import { NoAnswer } from '../http.ts';
import { broken, chosen, each, KEPT, type Rule, spending, unsigned, type Verdict } from '../rule.ts';

/** Headers of valid requests. The document defines the required headers, but not how the service treats others. */
const HEADERS: Readonly<Record<string, Readonly<Record<string, string | null>>>> = {
  'the content type application/json; charset=utf-8': { 'Content-Type': 'application/json; charset=utf-8' },
  'the content type Application/JSON': { 'Content-Type': 'Application/JSON' },
  'the content type text/plain': { 'Content-Type': 'text/plain' },
  'the content type application/x-www-form-urlencoded': { 'Content-Type': 'application/x-www-form-urlencoded' },
  'a request without a content type': { 'Content-Type': null },
  'the content encoding identity': { 'Content-Encoding': 'identity' },
  'the content encoding gzip with an uncompressed body': { 'Content-Encoding': 'gzip' },
  'a request without an Accept header': { Accept: null },
  'the header Accept: */*': { Accept: '*/*' },
  'the header Accept: text/html': { Accept: 'text/html' },
};

const TIMEOUT = 5000;

/** Sends plain HTTP to the TLS port, without credentials. */
async function plainAnswer(base: URL, path: string, body: string): Promise<string | undefined> {
  const url = `http://${base.hostname}:${base.port || 443}${base.pathname.replace(/\/+$/, '')}${path}`;
  const headers = { 'content-type': 'application/json', accept: 'application/json' };
  const signal = AbortSignal.timeout(TIMEOUT);
  const answer = fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal });
  return await answer.then((response) => response.text()).catch(() => undefined);
}

/** @returns true if a handshake with these versions alone succeeds */
function handshakes(deployment: Deployment, versions: tls.SecureContextOptions): Promise<boolean> {
  const [base] = deployment.options.baseUrls;
  const host = base?.hostname.replace(/^\[|\]$/g, '') ?? '';
  return new Promise((resolve) => {
    const socket = tls.connect({
      ...versions,
      rejectUnauthorized: true,
      ...(deployment.options.ca && { ca: [...deployment.options.ca] }),
      ...(/^[\d.]+$|:/.test(host) ? {} : { servername: host }),
      host,
      port: Number(base?.port || 443),
    });
    const end = (succeeded: boolean) => {
      socket.destroy();
      resolve(succeeded);
    };
    socket.setTimeout(TIMEOUT, () => end(false));
    socket.once('secureConnect', () => end(true));
    socket.once('error', () => end(false));
  });
}

async function refusesPlain(deployment: Deployment): Promise<Verdict> {
  const [base] = deployment.options.baseUrls;
  if (base === undefined) return KEPT;
  return each([SIGN, REPORT], async (path) => {
    const answer = await plainAnswer(base, path, JSON.stringify(deployment.body()));
    const code = answer === undefined ? undefined : readEnvelope(answer).code;
    const exchange = { request: `POST ${path}, by plain HTTP and without credentials`, answer: `code ${code}` };
    // A response with code 0 or 401 shows that the API itself answers plain HTTP.
    return code === 0 || code === 401 ? broken('the API answers plain HTTP', { exchange }) : KEPT;
  });
}

/** OpenSSL itself uses TLS 1.1 only at security level 0. */
const OLD_TLS = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT:@SECLEVEL=0' } as const;

/** CBC, CCM with a tag of 8 bytes, and key exchange by RSA encryption. */
const WEAK_CIPHERS = {
  maxVersion: 'TLSv1.2',
  ciphers: 'AESCCM8:ECDHE+SHA:ECDHE+SHA256:ECDHE+SHA384:kRSA+AES',
} as const;

export const TRANSPORT_RULES: readonly Rule[] = [
  unsigned('5 rule 5', 'the service does not serve plain HTTP on the same port', refusesPlain),
  unsigned('5 rule 5', 'the service rejects TLS 1.0 and 1.1 (RFC 8996)', async (deployment) => {
    const taken = await handshakes(deployment, OLD_TLS);
    const exchange = { request: 'a handshake with TLS 1.0 and 1.1', answer: 'a connection' };
    return taken ? broken('a connection with one of them succeeded', { exchange }) : KEPT;
  }),
  unsigned('5 rule 5', 'which of TLS 1.2 and 1.3 the service accepts', async (deployment) => {
    const taken: string[] = [];
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      if (await handshakes(deployment, { minVersion: version, maxVersion: version })) taken.push(version);
    }
    return chosen(taken.join(' and ') || 'neither');
  }),
  unsigned(
    '5 rule 5',
    'whether the service accepts TLS 1.2 without authenticated encryption or forward secrecy',
    async (deployment) => chosen((await handshakes(deployment, WEAK_CIPHERS)) ? 'accepted' : 'rejected'),
  ),
  spending(
    '4',
    'a request needs only the three documented headers, with names in any letter case',
    1,
    async (deployment) => {
      const headers = {
        'Content-Type': null,
        'content-type': 'application/json',
        Accept: null,
        ACCEPT: 'application/json',
      };
      return isSigned(await deployment.sign(deployment.body(), { headers }));
    },
  ),
  ...Object.entries(HEADERS).map(([title, headers]) =>
    spending('4', `how the service treats ${title}`, 1, async (deployment) =>
      isSignedOrRefused(await deployment.sign(deployment.body(), { headers })),
    ),
  ),
  ...[SIGN, REPORT].map(
    (path): Rule => ({
      section: '4',
      title: `the service does not accept PUT for a valid \`${path.slice('/v1/codesign/'.length)}\` request`,
      spends: path === SIGN ? 1 : 0,
      ...(path === REPORT ? { shares: ['SHA256'] } : {}),
      async ask(deployment) {
        const body = path === SIGN ? deployment.body() : { id: await deployment.recordId(), status: 1 };
        return isRefused(await deployment.call(path, { method: 'PUT', body }));
      },
    }),
  ),
  unsigned('8', 'how the service treats a body of one megabyte', async (deployment) => {
    try {
      const body = { ...deployment.refusedBody(), extra: { platform: 'x'.repeat(1_000_000) } };
      const answer = await deployment.sign(body);
      const refusal = isRefused(answer);
      return refusal.kind === 'broken' ? refusal : chosen(describeAnswer(answer));
    } catch (error) {
      if (error instanceof NoAnswer) return chosen('the connection is closed');
      throw error;
    }
  }),
];
