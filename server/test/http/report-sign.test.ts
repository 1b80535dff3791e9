import Database from 'libsql';
import { expect, onTestFinished, test } from 'vitest';
import { forAll } from '../../../test/support/set-up.ts';
import { goodRequest, NUMBER, openApp } from '../support/in-process.ts';

const server = await forAll(openApp());
const newRecord = async () => (await server.sign(goodRequest())).body.data?.id ?? '';

test('notes the latest status and its time, counts nothing, and logs one line', async () => {
  const id = await newRecord();
  const before = await server.counted();
  for (const status of [2, 2, 1]) {
    const lines = server.log().length;
    const body = { code: 0, message: expect.any(String), data: null };
    expect(await server.report({ id, status })).toMatchObject({ status: 200, body });
    const record = await server.data.store.records.find(id);
    expect(record).toMatchObject({ counted: true, report: { status } });
    expect(Math.abs(Date.now() - (record?.report?.at.getTime() ?? 0))).toBeLessThan(10_000);
    const line = { operation: 'report-sign', outcome: 'reported', record: id, certificate: NUMBER, status };
    expect(server.log().slice(lines)).toMatchObject([line]);
  }
  expect(await server.counted()).toBe(before);
});

test('waits for another process that writes to the database, and serves other calls during that time', async () => {
  const id = await newRecord();
  const writer = new Database(server.data.folder.database);
  onTestFinished(() => void writer.close());
  writer.exec('BEGIN IMMEDIATE');
  let answered = false;
  const report = server.report({ id, status: 1 }).finally(() => {
    answered = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect((await server.call({ method: 'GET', path: '/healthz' })).status).toBe(200);
  expect(answered).toBe(false);
  writer.exec('COMMIT');
  expect((await report).status).toBe(200);
});
