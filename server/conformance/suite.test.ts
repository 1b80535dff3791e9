/** The suite against the bundled server, against deployments that choose otherwise, and against some that are wrong. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { useServer } from '../../test/support/services/shared-server.ts';
import { forAll } from '../../test/support/set-up.ts';
import { prepareTables } from '../src/records/migrations.ts';
import { openSqliteStore } from '../src/records/sqlite.ts';
import { addClient } from '../test/support/clients.ts';
import { resultText } from './command/print.ts';
import { openDeployment } from './deployment.ts';
import { type RuleResult, runRules } from './run-rules.ts';
import { signingKey } from './signature.ts';
import { mostSignatures, RULES, selectRules } from './suite.ts';
import { forgivingBehaviour, otherBehaviour } from './support/behaviour.ts';
import { CERTAIN_RULES, checkFake, titlesOf } from './support/check-fake.ts';
import { prepareFakes } from './support/fake-deployment.ts';

const prepared = await prepareFakes();

const choicesOf = (results: readonly RuleResult[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    results.flatMap(({ rule, verdict }) => (verdict.kind === 'choice' ? [[rule.title, verdict.choice]] : [])),
  );

/** The first pattern that matches a rule's title gives the choice of this server. */
const OWN_CHOICES: readonly (readonly [title: RegExp, choice: string])[] = [
  [/ (GET|PUT|PATCH|DELETE) \//, 'HTTP 405, code 405'],
  [/ request for (an unknown|a) path /, 'HTTP 404, code 404'],
  [/ type (text|application\/x-www)|without a content type| gzip /, 'HTTP 415, code 415'],
  [/ a body of one megabyte$/, 'HTTP 413, code 413'],
  [/ two Authorization headers| whose Base64 /, 'rejected: HTTP 401, code 401'],
  [/ unknown member of (the request|`extra`)$| file name of 4,000 /, 'signed'],
  [/ application\/json| encoding identity$| Accept(:| header)/i, 'signed'],
  [/ unknown member of a report$| a repeated report$| after a report of status /, 'success'],
  [/ several spaces after the scheme$| chunked body /, 'accepted'],
  [/ a record of another client$/, 'HTTP 400, code 400, same as for an unknown id'],
  [/^(how )?the service (treats|rejects) /, 'HTTP 400, code 400'],
  [/^which HTTP status a response with code 401 has$/, 'sign: HTTP 401, report-sign: HTTP 401'],
  [/^which HTTP status a response with code 400 has$/, 'HTTP 400'],
  [/^which content type /, 'application/json; charset=utf-8'],
  [/^which additional fields /, 'none'],
  [/^which of TLS 1.2 and 1.3 /, 'TLSv1.2 and TLSv1.3'],
  [/^whether the service accepts TLS 1.2 without /, 'rejected'],
  [/^whether a connection serves more than one call$/, 'it does'],
  [/^whether credentials or parameters are checked first$/, 'credentials'],
  [/^whether a request with the same digest /, 'a new record'],
];

const server = await forAll(useServer({ bits: 2048 }));

test('the bundled server keeps every rule, also that of the order of its checks, and chooses as docs/api.md lists', async () => {
  const store = await openSqliteStore(join(server.data, 'service', 'database.sqlite'), prepareTables('use'));
  const { CODESIGN_CODE = '', CODESIGN_CERTIFICATE = '', CODESIGN_ACCESS_KEY = '', ...env } = server.env;
  const counted = async () => (await store.clients.findByAccessKey(CODESIGN_ACCESS_KEY))?.signatures ?? Number.NaN;
  const otherClient = await addClient(store);
  const deployment = openDeployment({
    ...{ baseUrls: [new URL(server.baseUrl)], code: CODESIGN_CODE, otherClient, count: counted, timeout: 30_000 },
    credentials: { accessKey: CODESIGN_ACCESS_KEY, accessSecret: env.CODESIGN_ACCESS_SECRET ?? '' },
    ca: [await readFile(server.caFile, 'utf8')],
    key: signingKey(await readFile(CODESIGN_CERTIFICATE, 'utf8')),
    limit: mostSignatures(RULES),
  });
  onTestFinished(async () => {
    deployment.close();
    await store.close();
  });
  const results = await runRules(deployment, CERTAIN_RULES, true);
  const others = results.filter(({ verdict }) => verdict.kind === 'broken' || verdict.kind === 'not-asked');
  expect(others.map(resultText)).toEqual([]);

  const choices = Object.entries(choicesOf(results));
  const expected = choices.map(([title]) => [title, OWN_CHOICES.find(([pattern]) => pattern.test(title))?.[1]]);
  expect(choices).toEqual(expected);
  expect(choices.length).toBeGreaterThan(70);
}, 120_000);

describe('another deployment', { timeout: 60_000 }, () => {
  test('that makes every other choice keeps every rule too, and its choices are reported', async () => {
    const { results } = await checkFake(prepared, { rules: CERTAIN_RULES, change: otherBehaviour });
    expect(results.filter(({ verdict }) => verdict.kind === 'broken').map(resultText)).toEqual([]);
    expect(choicesOf(results)).toMatchObject({
      'which HTTP status a response with code 401 has': 'sign: HTTP 403, report-sign: HTTP 403',
      'which HTTP status a response with code 400 has': 'HTTP 200',
      'whether credentials or parameters are checked first': 'code 400 if both are wrong',
      'which additional fields the signature record has': 'createdAt',
      'whether a request with the same digest creates a new signature': 'the same record',
      'how the service treats a report for an unknown id': 'success',
      'how the service treats an unknown member of `extra`': 'HTTP 200, code 400',
      'how the service treats a digest with too much padding': 'signed',
      'how the service treats the content type text/plain': 'HTTP 200, code 1415',
      'how the service treats two Authorization headers, the correct one first': 'accepted',
    });
  });

  test('may turn every third call away for now', async () => {
    const concurrent = '8 concurrent calls get 8 different ids';
    // How a rule repeats a call is the same for all: a third of them is enough.
    const rules = RULES.filter(
      ({ needs, title }, index) => needs === undefined && (index % 3 === 0 || title === concurrent),
    );
    const { results } = await checkFake(prepared, {
      rules,
      change: () => ({ turnsAway: (serial) => serial % 3 === 0 }),
    });
    expect(results.filter(({ verdict }) => verdict.kind === 'broken').map(resultText)).toEqual([]);
    expect(results.find(({ rule }) => rule.title === concurrent)?.verdict).toMatchObject({
      choice: expect.stringMatching(/^[23] of 8 were rejected temporarily$/),
    });
  });

  test('may close a connection after each call', async () => {
    const rules = selectRules(['2.4', 'serves more than one call']);
    const { results } = await checkFake(prepared, { rules, change: () => ({ keepAlive: false }) });
    expect(titlesOf(results, 'broken')).toEqual([]);
    expect(results.map(({ verdict }) => verdict)).toContainEqual({
      kind: 'choice',
      choice: 'the connection is closed after each call',
    });
  });
});

test('with --no-signatures, a deployment that forgives whatever it can makes no signature', async () => {
  const { results, fake } = await checkFake(prepared, { change: forgivingBehaviour, signatures: false, limit: 0 });
  expect(fake.signed()).toBe(0);
  expect(titlesOf(results, 'broken')).toEqual([]);
  expect(titlesOf(results, 'kept').length).toBeGreaterThan(80);
}, 60_000);

test('the rules have titles of their own, and sections of the document', () => {
  const titles = RULES.map(({ title }) => title);
  expect(new Set(titles).size).toBe(titles.length);
  for (const { section } of RULES) expect(section).toMatch(/^[1-9](\.\d)?( (rule|check|checks)( \d)?)?$/);
});
