/** The commands about records next to a running server. */

import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { forAll } from '../../../test/support/set-up.ts';
import { adminCommand } from '../support/commands.ts';
import { goodRequest, NUMBER, openApp } from '../support/in-process.ts';
import { seedRecords } from '../support/page-scene.ts';

const server = await forAll(openApp());
const { store, folder } = server.data;
const admin = (...args: readonly string[]) => adminCommand([...args, '--data', join(folder.path, '..')]);
const exported = async (...args: readonly string[]) => (await admin('export', ...args)).output;
const idsOf = async (...args: readonly string[]): Promise<readonly string[]> =>
  JSON.parse((await admin('records', ...args, '--json')).output).map(({ id }: { readonly id: string }) => id);

const HOSTILE = { hostname: '=cmd|"x"', platform: 'a,b\nc', signing_filename: '/home/someone/\u009bapp.exe' };
let ids: readonly string[];
beforeEach(async () => {
  await store.records.prune(new Date('2999-01-01'), 10_000);
  const answers = [await server.sign({ ...goodRequest(), extra: HOSTILE }), await server.sign(goodRequest())];
  ids = answers.map(({ body }) => body.data?.id ?? '');
  await server.report({ id: ids[1], status: 2 });
});

/** Adds so many records of a time. */
const seed = (count: number, signedAt: Date) =>
  seedRecords(
    folder.database,
    Array.from({ length: count }, () => ({ clientId: server.credentials.id, certificate: NUMBER, signedAt })),
  );

test('lists the latest, and those that are requested', async () => {
  const { accessKey } = server.credentials;
  const [heading, first, second, ...more] = (await admin('records')).output.trimEnd().split('\n');
  expect(heading).toMatch(/^ID +SIGNED AT +CLIENT +CERTIFICATE +ALGORITHM +COUNTED +REPORT +FILE$/);
  const columns = [accessKey, NUMBER, 'SHA256', 'yes', 'none', '\\u009bapp.exe'];
  expect(first?.split(/ {2,}/)).toEqual([ids[0], expect.any(String), ...columns]);
  expect(second?.split(/ {2,}/)[6]).toBe('failed');
  expect(more).toEqual([]);
  expect(await idsOf()).toEqual(ids);
  expect(await idsOf('--limit', '1')).toEqual([ids[1]]);
  expect((await admin('records', '--since', '2999-01-01')).output).toBe('');
  expect(await idsOf('--until', '2020-01-01')).toEqual([]);
  expect(await idsOf('--certificate', '1')).toEqual([]);
  expect(await idsOf('--client', accessKey)).toHaveLength(2);
});

test('prune removes old records, and leaves the counts', async () => {
  seed(1001, new Date('2020-02-02'));
  const counted = await server.counted();
  const prune = async (before: string) => (await admin('records', 'prune', '--before', before)).output;
  expect(await prune('2020-02-02')).toBe('0\n');
  expect(await prune('2020-02-02T00:00:00.001Z')).toBe('1001\n');
  expect(await idsOf()).toEqual(ids);
  expect(await server.counted()).toBe(counted);
});

test('shows one with the signature that the client received', async () => {
  const { body } = await server.sign(goodRequest());
  const shown = JSON.parse((await admin('records', 'show', body.data?.id ?? '')).output);
  expect(shown).toMatchObject({ ...body.data, digest: '07'.repeat(32) });
});

test('exports JSON with everything except signatures', async () => {
  const output = await exported('--format', 'json');
  const records = JSON.parse(output);
  expect(records.map(({ id }: { readonly id: string }) => id)).toEqual(ids);
  expect(records[0].extra).toEqual({ ...HOSTILE, signing_filename: '\u009bapp.exe' });
  expect(records[1]).toMatchObject({ report: 'failed', counted: true });
  expect(output).not.toMatch(/signature"|\u009b/);
  expect(JSON.parse(await exported('--format', 'json', '--until', '2020-01-01'))).toEqual([]);
  seed(1100, new Date()); // more than one query returns
  expect(JSON.parse(await exported('--format', 'json'))).toHaveLength(1102);
});

test('exports CSV whose fields are no formulas, wherever a spreadsheet splits, and leaves harmless text unchanged', async () => {
  await server.sign({ ...goodRequest(), extra: { version: '1.0-rc.1', hostname: 'a - b = c', time: "it's -1" } });
  const first = await exported();
  expect(first.split('\n')[0]).toMatch(/^id,signedAt,client,clientName,certificate,algorithm,digest,counted,report,/);
  for (const cell of [`,"'=cmd|""x""",`, ',"a,b\\u000ac",', ",1.0-rc.1,,it's -1,a - b = c,"]) {
    expect(first).toContain(cell);
  }
  expect(first).not.toContain('someone');
  const hostnames = [
    ...['x;=1+1', 'x,=1+1', 'x\t=1+1', 'x\r\n=1+1', 'x;\u00a0 =1+1', 'x; "=1+1"', 'x;"; @SUM(1)'],
    ...['"=1+1', "';+1", 'x;;-1', '\u001b;=1', '\uff1d1+1'],
  ];
  for (const hostname of hostnames) await server.sign({ ...goodRequest(), extra: { hostname } });
  const output = await exported();
  expect(output).not.toMatch(/[^\n\P{Cc}]|[\p{Cf}\p{Zl}\p{Zp}]/u);
  const lines = output.trimEnd().split('\n').slice(-hostnames.length);
  const fields = lines.flatMap((line) => [/,/, /;/, /[,;]/].flatMap((separator) => line.split(separator)));
  expect(fields.filter((field) => /^[\s"]*[=+\-@\uff1d\uff0b\uff0d\uff20]/.test(field))).toEqual([]);
  expect(fields.filter((field) => /'[=+\-@\uff1d]/.test(field)).length).toBeGreaterThanOrEqual(hostnames.length);
});
