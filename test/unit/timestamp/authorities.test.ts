/** Which responses of authorities are used, for each mode of the tests' authority. */

import { expect, it } from 'vitest';
import { readTimestampToken } from '../../../src/timestamp/read-token.ts';
import { type AuthorityMode, startTimestampAuthority } from '../../support/services/timestamp-authority.ts';
import { forAll } from '../../support/set-up.ts';
import { failureOf, type OpenOptions, openAuthorities, SIGNATURE } from './support/open-authorities.ts';

const authority = await forAll(startTimestampAuthority());

/** The waits between attempts. */
const USABLE = {
  ...{ ok: [], 'granted-with-mods': [], slow: [], 'throttled-once': [1000], 'unavailable-once': [250] },
} satisfies Partial<Record<AuthorityMode, readonly number[]>>;

/** Together with those above, these are all modes. */
const UNUSABLE: Readonly<Record<Exclude<AuthorityMode, keyof typeof USABLE>, RegExp>> = {
  throttled: /HTTP 429 after 4 attempts$/,
  http500: /HTTP 500 after 4 attempts$/,
  http404: /HTTP 404$/,
  redirect: /HTTP 302, a redirect to \/ok$/,
  http200html: /a web page instead of a timestamp$/,
  empty: /the response is empty$/,
  garbage: /the response is not a timestamp \(.*\)$/,
  hang: /no response within 0\.5 s$/,
  reset: /the connection broke \(.*\) after 4 attempts$/,
  reject: /it rejects the request: rejection \(Requested policy is not supported\.; policy not supported\)$/,
  replay: /is for other data$/,
  'nonce-wrong': /the nonce of another request$/,
  'nonce-missing': /lacks the nonce/,
  'imprint-wrong': /is for other data$/,
  'imprint-algorithm-wrong': /digest algorithm 2\.16\.840\.1\.101\.3\.4\.2\.8 instead of SHA256$/,
  'policy-wrong': /has the policy 1\.3\.6\.1\.4\.1\.99999\.2 instead of 1\.3\.6\.1\.4\.1\.99999\.1$/,
  corrupt: /signature of the timestamp is not valid/,
  'certificate-missing': /does not contain the certificate/,
  'certificate-expired': /"Test Timestamp Authority" expired on 2025-01-01T00:00:00Z/,
  'purpose-uncritical': /not critical/,
  'purpose-several': /more than timeStamping/,
  'purpose-wrong': /lacks timeStamping/,
  'certificate-differs': /contains another certificate/,
  past: /says 2024-06-01T12:00:00Z, but this machine's clock says .*: either may be wrong$/,
  future: /says 2040-06-01T12:00:00Z, but this machine's clock says .*: either may be wrong$/,
};

const optionsFor = (mode: AuthorityMode): OpenOptions => ({
  policy: authority.policy,
  timeoutMilliseconds: mode === 'hang' ? 500 : 10_000,
});

it.each(Object.entries(USABLE))('an authority that is %s returns a timestamp', async (mode, waits) => {
  const url = authority.urlOf(mode as AuthorityMode);
  const authorities = openAuthorities([url], optionsFor('ok'));
  const stamped = await authorities.stamp(SIGNATURE);
  expect(stamped.authority).toBe(url);
  expect(readTimestampToken(stamped.token, SIGNATURE)).toMatchObject({ time: stamped.time, findings: [] });
  expect(authorities.waits).toEqual(waits);
});

it.each(Object.entries(UNUSABLE))(
  'an authority that is %s, alone, returns no timestamp, and is named with the reason',
  async (name, reason) => {
    const mode = name as AuthorityMode;
    const asked = () => authority.requests.filter((request) => request.mode === mode).length;
    const before = asked();
    const authorities = openAuthorities([authority.urlOf(mode)], optionsFor(mode));
    const error = await failureOf(authorities);
    expect(error).toMatchObject({ code: 'timestamp-failed', category: 'timestamp' });
    expect(error.message).toContain(`${authority.urlOf(mode)}: `);
    expect(error.message).toMatch(reason);
    expect(error.hint).toMatch(/(second authority \(|another authority with )--timestamp-url/);
    expect(asked() - before).toBe(reason.source.includes('4 attempts') ? 4 : 1);
  },
);

it.each([9, -9, 11, -11])('a clock %i minutes off', async (minutes) => {
  const now = () => new Date(Date.now() + minutes * 60_000);
  const authorities = openAuthorities([authority.url], { now });
  const stamped = authorities.stamp(SIGNATURE);
  if (Math.abs(minutes) < 10) await expect(stamped).resolves.toMatchObject({ authority: authority.url });
  else {
    const hint = expect.stringMatching(/^Compare this machine's clock (?!.*TLS)/);
    await expect(stamped).rejects.toMatchObject({ code: 'timestamp-failed', hint });
  }
});
