import { readFileSync, writeFileSync } from 'node:fs';
import { chmod, lchown, readFile, rename, stat, symlink, writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { type CallRecord, maskDigest, openAuditLog } from '../../../src/service/call-record.ts';
import type { ServiceMode } from '../../support/services/misbehaving-service.ts';
import { SIGN_REQUEST } from '../../support/services/service-client.ts';
import { folderForEach } from '../../support/set-up.ts';
import { openMisbehaving } from './misbehaving-client.ts';

const folder = folderForEach();

const RECORD: CallRecord = {
  operation: 'sign',
  time: '2026-11-21T17:00:00.123Z',
  attempt: 1,
  origin: 'https://codesign.example.com',
  code: '1001',
  digest: maskDigest(new Uint8Array(32).fill(7), 'SHA256'),
  file: 'app.exe',
  httpStatus: 200,
  serviceCode: 0,
  record: 'record-1',
  status: undefined,
  result: 'ok',
  milliseconds: 12,
};

async function callsOf(mode: ServiceMode, times?: number) {
  const client = { timeoutMilliseconds: mode === 'hangs' ? 500 : 10_000, now: Date.UTC(2026, 10, 21) };
  const { service, calls } = await openMisbehaving(mode, { operation: 'sign', times }, client);
  await service.sign({ ...SIGN_REQUEST, file: 'app.exe' }).catch(() => undefined);
  return { calls };
}

describe('the record of a call', () => {
  test.each<[ServiceMode, Partial<CallRecord>]>([
    ['refused', { httpStatus: 200, serviceCode: 1001, result: 'refused' }],
    ['unauthorized-403', { httpStatus: 403, serviceCode: 401, result: 'unauthorized' }],
    ['server-error', { httpStatus: 500, serviceCode: undefined, result: 'http-error' }],
    ['signature-not-base64', { httpStatus: 200, serviceCode: 0, record: 'record-1', result: 'signature-unreadable' }],
    ['hangs', { httpStatus: undefined, serviceCode: undefined, result: 'sign-timed-out' }],
    ['breaks-during-body', { httpStatus: 200, serviceCode: undefined, result: 'connection-broken' }],
  ])('%s says how it failed', async (mode, expected) => {
    const { calls } = await callsOf(mode);
    expect(calls).toMatchObject([{ operation: 'sign', attempt: 1, ...expected }]);
    expect(calls[0]).toHaveProperty('httpStatus', expected.httpStatus);
    expect(calls[0]).toHaveProperty('serviceCode', expected.serviceCode);
  });

  test('there is one of each attempt', async () => {
    const { calls } = await callsOf('throttled', 2);
    expect(calls.map(({ attempt, httpStatus, result }) => [attempt, httpStatus, result])).toEqual([
      [1, 429, 'throttled'],
      [2, 429, 'throttled'],
      [3, 200, 'ok'],
    ]);
  });
});

describe('the audit log', () => {
  test('is private, unless it exists, and gets a line for each record', async () => {
    const [path, existing] = [folder.at('audit.jsonl'), folder.at('existing.jsonl')];
    const log = openAuditLog(path);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    await writeFile(existing, 'before\n');
    await chmod(existing, 0o640);
    openAuditLog(existing).write(RECORD);
    expect(await readFile(existing, 'utf8')).toMatch(/^before\n\{.*\}\n$/);
    expect((await stat(existing)).mode & 0o777).toBe(0o640);
    log.write(RECORD);
    log.write({ ...RECORD, digest: undefined, file: undefined, httpStatus: undefined });
    const lines = (await readFile(path, 'utf8')).split('\n');
    expect(lines).toHaveLength(3);
    expect(JSON.parse(lines[0] ?? '')).toEqual({ ...RECORD, status: null });
    expect(JSON.parse(lines[1] ?? '')).toMatchObject({ digest: null, file: null, httpStatus: null });
    expect(Object.keys(JSON.parse(lines[0] ?? ''))).toEqual(Object.keys(JSON.parse(lines[1] ?? '')));
    expect(log.warnings).toEqual([]);
  });

  test('is not added to a program', () => {
    const program = Buffer.from('MZ\0');
    const path = folder.at('app.exe');
    writeFileSync(path, program);
    expect(() => openAuditLog(path)).toThrow(expect.objectContaining({ code: 'audit-log-unusable' }));
    expect(readFileSync(path)).toEqual(program);
  });

  test('continues in a new file when it was moved away', async () => {
    const path = folder.at('audit.jsonl');
    const log = openAuditLog(path);
    log.write(RECORD);
    await rename(path, `${path}.1`);
    log.write({ ...RECORD, attempt: 2 });
    expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({ attempt: 2 });
    expect(JSON.parse(await readFile(`${path}.1`, 'utf8'))).toMatchObject({ attempt: 1 });
  });

  test('follows a link of this user, and none of another user', async () => {
    const [link, target] = [folder.at('link'), folder.at('target')];
    await symlink(target, link);
    openAuditLog(link).write(RECORD);
    const written = await readFile(target, 'utf8');
    expect(written.split('\n')).toHaveLength(2);
    if (process.getuid?.() !== 0) return;
    await lchown(link, 65_534, 65_534);
    const message = expect.stringContaining('the link belongs to another user');
    const expected = { code: 'audit-log-unusable', message };
    const behind = folder.at('leads-to-the-link');
    await symlink('link', behind);
    for (const path of [link, behind]) {
      expect(() => openAuditLog(path)).toThrow(expect.objectContaining(expected));
    }
    expect(await readFile(target, 'utf8')).toBe(written);
  });
});
