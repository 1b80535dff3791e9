/** Which answers of authorities are used and which are not, with each mode of the tests' authority alone and before a good one. */

import { describe, expect, it } from 'vitest';
import type { CodesignError } from '../../../src/errors/codesign-error.ts';
import { exitCodeFor } from '../../../src/errors/exit-codes.ts';
import { readTimestampToken } from '../../../src/timestamp/read-token.ts';
import { openssl } from '../../support/programs/openssl.ts';
import {
  AUTHORITY_MODES,
  type AuthorityMode,
  startTimestampAuthority,
} from '../../support/services/timestamp-authority.ts';
import { forAll } from '../../support/set-up.ts';
import { type OpenOptions, openAuthorities } from './support/open-authorities.ts';

const SIGNATURE = Buffer.from('signature');

const authority = await forAll(startTimestampAuthority());

const USABLE: Readonly<Partial<Record<AuthorityMode, { readonly waits: readonly number[] }>>> = {
  ok: { waits: [] },
  'granted-with-mods': { waits: [] },
  slow: { waits: [] },
  'throttled-once': { waits: [1000] },
  'unavailable-once': { waits: [250] },
};

interface Unusable {
  readonly reason: RegExp;
  /** 1 when left out. */
  readonly attempts?: number;
}

const UNUSABLE: Readonly<Partial<Record<AuthorityMode, Unusable>>> = {
  throttled: { reason: /HTTP 429 after 4 attempts$/, attempts: 4 },
  http500: { reason: /HTTP 500 after 4 attempts$/, attempts: 4 },
  http404: { reason: /HTTP 404$/ },
  redirect: { reason: /HTTP 302, a redirect to \/ok$/ },
  http200html: { reason: /a web page instead of a timestamp$/ },
  empty: { reason: /the response is empty$/ },
  garbage: { reason: /the response is not a timestamp \(.*\)$/ },
  hang: { reason: /no response within 0\.5 s$/ },
  reset: { reason: /the connection broke \(.*\) after 4 attempts$/, attempts: 4 },
  reject: {
    reason: /it rejects the request: rejection \(Requested policy is not supported\.; policy not supported\)$/,
  },
  replay: { reason: /is for other data$/ },
  'nonce-wrong': { reason: /the nonce of another request$/ },
  'nonce-missing': { reason: /lacks the nonce/ },
  'imprint-wrong': { reason: /is for other data$/ },
  'imprint-algorithm-wrong': { reason: /digest algorithm 2\.16\.840\.1\.101\.3\.4\.2\.8 instead of SHA256$/ },
  'policy-wrong': { reason: /has the policy 1\.3\.6\.1\.4\.1\.99999\.2 instead of 1\.3\.6\.1\.4\.1\.99999\.1$/ },
  corrupt: { reason: /signature of the timestamp is not valid/ },
  'certificate-missing': { reason: /does not contain the certificate/ },
  'certificate-expired': { reason: /"Test Timestamp Authority" expired on 2025-01-01T00:00:00Z/ },
  'purpose-uncritical': { reason: /not critical/ },
  'purpose-several': { reason: /more than timeStamping/ },
  'purpose-wrong': { reason: /lacks timeStamping/ },
  'certificate-differs': { reason: /contains another certificate/ },
  past: { reason: /says 2024-06-01T12:00:00Z, but this machine's clock says .*: either may be wrong$/ },
  future: { reason: /says 2040-06-01T12:00:00Z, but this machine's clock says .*: either may be wrong$/ },
};

/** With the policy requested: an authority that gives another one is found out. */
const optionsFor = (mode: AuthorityMode): OpenOptions => ({
  policy: authority.policy,
  timeoutMilliseconds: mode === 'hang' ? 500 : 10_000,
});

it('every mode is tried', () => {
  expect([...Object.keys(USABLE), ...Object.keys(UNUSABLE)].sort()).toEqual([...AUTHORITY_MODES].sort());
});

describe.each(Object.entries(USABLE))('an authority that is %s', (mode, { waits }) => {
  it('returns a timestamp that OpenSSL accepts', async () => {
    const url = authority.urlOf(mode as AuthorityMode);
    const authorities = openAuthorities([url], optionsFor('ok'));
    const stamped = await authorities.stamp(SIGNATURE);
    await authorities.close();
    expect(stamped.authority).toBe(url);
    expect(Math.abs(stamped.time.getTime() - Date.now())).toBeLessThan(60_000);
    expect(readTimestampToken(stamped.token, SIGNATURE)).toMatchObject({ time: stamped.time, findings: [] });
    expect(authorities.waits).toEqual(waits);
    const args = ['ts', '-verify', '-token_in', '-in', 'token', '-data', 'data', '-CAfile', 'root.pem'];
    const files = { token: stamped.token, data: SIGNATURE, 'root.pem': authority.rootPem };
    expect(openssl(args, files).toString()).toContain('Verification: OK');
  });
});

describe.each(Object.entries(UNUSABLE))('an authority that is %s', (name, { reason, attempts = 1 }) => {
  const mode = name as AuthorityMode;
  const asked = () => authority.requests.filter((request) => request.mode === mode).length;

  it('alone returns no timestamp, and is named with the reason', async () => {
    const before = asked();
    const authorities = openAuthorities([authority.urlOf(mode)], optionsFor(mode));
    const error: CodesignError = await authorities.stamp(SIGNATURE).then(
      () => expect.fail('a timestamp was given'),
      (thrown) => thrown,
    );
    await authorities.close();
    expect(error).toMatchObject({ code: 'timestamp-failed', category: 'timestamp' });
    expect(exitCodeFor([error.category])).toBe(7);
    expect(error.message).toContain(`${authority.urlOf(mode)}: `);
    expect(error.message).toMatch(reason);
    expect(error.hint).toMatch(/(second authority \(|another authority with )--timestamp-url/);
    expect(asked() - before).toBe(attempts);
  });

  // A few of them: how the next one is asked does not depend on the reason.
  const isPassedOver = ['http500', 'reset', 'hang', 'garbage', 'reject', 'corrupt'].includes(mode);
  it.runIf(isPassedOver)('is passed over for the next one', async () => {
    const authorities = openAuthorities([authority.urlOf(mode), authority.url], optionsFor(mode));
    const stamped = await authorities.stamp(SIGNATURE);
    await authorities.close();
    expect(stamped.authority).toBe(authority.url);
    expect(readTimestampToken(stamped.token, SIGNATURE).findings).toEqual([]);
  });
});

it.each(['SHA1', 'SHA384', 'SHA512'] as const)('%s is requested and given', async (algorithm) => {
  const authorities = openAuthorities([authority.url], { algorithm });
  const { token } = await authorities.stamp(SIGNATURE);
  await authorities.close();
  expect(readTimestampToken(token, SIGNATURE).algorithm).toBe(algorithm.toLowerCase());
});

it.each([9, -9, 11, -11])('a clock %i minutes off', async (minutes) => {
  const now = () => new Date(Date.now() + minutes * 60_000);
  const authorities = openAuthorities([authority.url], { now });
  const stamped = authorities.stamp(SIGNATURE);
  if (Math.abs(minutes) < 10) await expect(stamped).resolves.toMatchObject({ authority: authority.url });
  else {
    const hint = expect.stringMatching(/^Compare this machine's clock (?!.*TLS)/);
    await expect(stamped).rejects.toMatchObject({ code: 'timestamp-failed', hint });
  }
  await authorities.close();
});
