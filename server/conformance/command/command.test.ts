/** The suite's command line: rejected options, output and exit codes. */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { folderForAll } from '../../../test/support/set-up.ts';
import { issue } from '../../../test/support/signed-files/pki.ts';
import { basic } from '../deployment.ts';
import { RULES } from '../suite.ts';
import { type FakeDeployment, prepareFakes, startFake } from '../support/fake-deployment.ts';
import { main } from './main.ts';

const prepared = await prepareFakes();
const folder = folderForAll();
await writeFile(join(folder, 'ca.pem'), prepared.ca);

async function run(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const printed: { readonly out: string[]; readonly err: string[] } = { out: [], err: [] };
  const write = { out: (text: string) => printed.out.push(text), err: (text: string) => printed.err.push(text) };
  const code = await main(args, env, write);
  return { code, output: printed.out.join(''), errors: printed.err.join('') };
}

/** As a user would type it. */
async function runAgainst(fake: FakeDeployment, ...args: readonly string[]) {
  const { code, credentials } = fake.options;
  const options = ['--base-url', fake.baseUrl, '--code', code, '--ca-file', join(folder, 'ca.pem')];
  return run([...options, ...args], environmentOf(credentials));
}

const environmentOf = ({ accessKey, accessSecret }: { readonly accessKey: string; readonly accessSecret: string }) => ({
  CODESIGN_ACCESS_KEY: accessKey,
  CODESIGN_ACCESS_SECRET: accessSecret,
});

const BASE = ['--base-url', 'https://sign.example.com'];
const CODE = ['--code', '1'];
const BOTH = [...BASE, ...CODE];
const CREDENTIALS = { CODESIGN_ACCESS_KEY: 'AK', CODESIGN_ACCESS_SECRET: 'secret-of-the-tests' };
test.each<readonly [string, readonly string[], Readonly<Record<string, string>>, RegExp]>([
  ['no address', CODE, CREDENTIALS, /--base-url/],
  ['no certificate number', BASE, CREDENTIALS, /--code/],
  ['no credentials', BOTH, {}, /CODESIGN_ACCESS_KEY and CODESIGN_ACCESS_SECRET/],
  ['half the credentials', BOTH, { CODESIGN_ACCESS_KEY: 'AK' }, /CODESIGN_ACCESS_SECRET/],
  ['a colon in the access key', BOTH, { ...CREDENTIALS, CODESIGN_ACCESS_KEY: 'a:b' }, /colon/],
  ['plain HTTP', ['--base-url', 'http://127.0.0.1', ...CODE], CREDENTIALS, /https/],
  ['no URL', ['--base-url', 'sign', ...CODE], CREDENTIALS, /URL/],
  ['credentials in the address', ['--base-url', 'https://a:b@example.com', ...CODE], CREDENTIALS, /credentials/],
  ['a query in the address', ['--base-url', 'https://example.com/?x', ...CODE], CREDENTIALS, /query/],
  ['the secret as an option', [...BOTH, '--access-secret', 'x'], CREDENTIALS, /access-secret/],
  ['a rule that is not there', ['--list', '--only', '12.7'], {}, /12\.7/],
  ['a time-out of nothing', [...BOTH, '--timeout', '0'], CREDENTIALS, /--timeout/],
  ['roots that cannot be read', [...BOTH, '--ca-file', '/no/such.pem'], CREDENTIALS, /--ca-file/],
  ['an invalid certificate', [...BOTH, '--certificate', fileURLToPath(import.meta.url)], CREDENTIALS, /--certificate/],
])(
  'a mistake on the command line is named, with exit code 2, and nothing is sent: %s',
  async (_name, args, env, message) => {
    const { code, output, errors } = await run(args, env);
    expect({ code, output }).toEqual({ code: 2, output: '' });
    expect(errors).toMatch(message);
    expect(errors).not.toContain('secret-of-the-tests');
  },
);

describe('--list', () => {
  test('prints every rule with what it spends, and asks nothing', async () => {
    const { code, output } = await run(['--list']);
    expect(code).toBe(0);
    expect(output.split('\n').filter((line) => /^\d[\w. ]*\t(\d+( \+ shared)?|shared)\t\S/.test(line))).toHaveLength(
      RULES.length,
    );
  });

  test('--only selects a section with its subsections, or words of a title', async () => {
    const sections = async (only: string) => {
      const { output } = await run(['--list', '--json', '--only', only]);
      return [...new Set((JSON.parse(output) as { section: string }[]).map(({ section }) => section))];
    };
    expect(await sections('7 check 4')).toEqual(['7 check 4']);
    expect(await sections('8')).toEqual(['8', '8 rule 1', '8 rule 2', '8 rule 3', '8 rule 4']);
    expect(await sections('does not accept PUT')).toEqual(['4']);
  });
});

describe('a run', () => {
  test('says first what it may spend, then each verdict, the choices and a summary', async () => {
    await using fake = await startFake(prepared);
    const { code, output, errors } = await runAgainst(fake, '--only', '2.4', '--only', '5 rule 1');
    expect({ code, errors }).toEqual({ code: 0, errors: '' });
    expect(output).toMatch(/^\d+ rules for https:.*\nmaximum number of signatures: \d+\n\n/);
    expect(output).toMatch(/^kept +2\.4 +`data\.signature` is encoded in Base64$/m);
    expect(output).toMatch(/^choice +2\.4 +which additional fields the signature record has\n +→ none$/m);
    expect(output).toMatch(/\n\d+ kept, 0 broken, 1 choices, 0 not asked; signatures made: \d+\n$/);
    expect(Number(/maximum number of signatures: (\d+)/.exec(output)?.[1])).toBeGreaterThanOrEqual(fake.signed());
  });

  test('verifies with the certificate, counts with the command, and says what it could not ask', async () => {
    await using fake = await startFake(prepared);
    const certificate = join(folder, 'certificate.pem');
    const { key: privateKey } = prepared.keeper;
    const key = { privateKey, publicKey: prepared.publicKey };
    await writeFile(certificate, issue({ commonName: 'Conformance', key }).pem);
    const args = ['--only', 'RSASSA', '--certificate', certificate, '--only', '8 rule 1'];
    const { code, output } = await runAgainst(fake, ...args);
    expect(code).toBe(0);
    expect(output.match(/^kept .*RSASSA/gm)).toHaveLength(4);
    expect(output).toMatch(
      /^not asked 8 rule 1 +the service counts each signature once\n +\(the API does not return the count/m,
    );
    const wrong = await runAgainst(fake, '--only', 'a report of success', '--count-command', 'echo many');
    expect(wrong).toMatchObject({ code: 6, errors: expect.stringContaining('--count-command') });
    const still = await runAgainst(fake, '--only', 'a report of success', '--count-command', 'echo 7');
    expect(still).toMatchObject({ code: 0, output: expect.stringMatching(/^kept /m) });
    const stuck = await runAgainst(fake, '--only', 'a wrong parameter', '--count-command', 'date +%s%N | tail -c 15');
    expect(stuck).toMatchObject({ code: 1, output: expect.stringMatching(/^BROKEN .*\n +the count went from /m) });
  });

  test('shows what was sent and answered where a rule is broken: no secret, no digest, no signature, no escape of a terminal', async () => {
    const evil = '\u001b[31m::error ::';
    await using fake = await startFake(prepared, {
      change: ({ credentials }) => ({
        padding: () => true,
        body: (code, message, data, by) =>
          JSON.stringify({ code, message: `${message} ${evil} ${credentials.accessSecret} ${by}`, data }),
      }),
    });
    const { accessSecret } = fake.options.credentials;
    const only = ['--only', '`padding` field is PSS', '--only', '5 rule 4'];
    for (const more of [[], ['--json']]) {
      const { code, output } = await runAgainst(fake, ...only, ...more);
      expect(code).toBe(1);
      expect(output).toContain('the service returned a signature');
      expect(output).toContain('[secret]');
      expect(output).not.toContain(accessSecret);
      expect(output).not.toContain(basic(fake.options.credentials).slice(6));
      expect(output).not.toContain('\u001b');
      expect(output).not.toMatch(/[A-Za-z\d+/]{40,}/);
    }
  });

  test('--json is one document, and the announcement goes to standard error', async () => {
    await using fake = await startFake(prepared, { change: () => ({ challenge: undefined }) });
    const { code, output, errors } = await runAgainst(fake, '--json', '--only', '5', '--no-signatures');
    expect(code).toBe(1);
    expect(errors).toContain('uses no signatures');
    const report = JSON.parse(output);
    expect(report.summary).toMatchObject({ broken: 1, signatures: 0, signaturesAtMost: 0 });
    expect(report.rules).toContainEqual(
      expect.objectContaining({
        section: '5 rule 6',
        verdict: 'broken',
        why: 'HTTP 401 without a challenge',
        exchanges: [{ request: expect.stringContaining('POST /v1/codesign/sign'), answer: expect.any(String) }],
      }),
    );
    expect(report.choices).toContainEqual(expect.objectContaining({ section: '5 rule 5' }));
  });

  test('ends with 1 after one signature that was not announced, though no rule that was asked is broken', async () => {
    const yes = () => true;
    const lax = { certificate: yes, digest: () => Buffer.alloc(32), padding: yes, algorithm: () => 'SHA256' as const };
    await using fake = await startFake(prepared, { change: () => lax });
    const { code, errors } = await runAgainst(fake, '--no-signatures');
    expect({ code, signed: fake.signed() }).toEqual({ code: 1, signed: 1 });
    expect(errors).toContain('the service signed requests that it must reject (signatures made: 1, maximum: 0)');
  });

  test('ends with 3 if nothing answers, and if TLS is not trusted', async () => {
    const { baseUrl, options, stop } = await startFake(prepared);
    const ask = () => run(['--base-url', baseUrl, '--code', '1'], environmentOf(options.credentials));
    const untrusted = await ask();
    await stop();
    const gone = await ask();
    for (const { code, errors } of [untrusted, gone]) {
      expect(code).toBe(3);
      expect(errors).toContain('the service does not answer');
    }
  });

  test.each([
    [4, 401],
    [5, 200],
  ])('ends with %i where the service refuses the credentials under HTTP %i', async (expected, status) => {
    await using fake = await startFake(prepared, {
      change: () => ({ authorized: () => false, httpStatus: () => status }),
    });
    const { code, errors } = await runAgainst(fake);
    expect(code).toBe(expected);
    expect(errors).toContain(`the service rejects the credentials: HTTP ${status}, code 401`);
  });
});
