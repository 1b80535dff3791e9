/** A server for tests of the page, with viewers. The tests write records and clients directly to the database. */

import { randomUUID } from 'node:crypto';
import Database from 'libsql';
import type { Extra } from '../../../src/service/messages.ts';
import type { ReportStatus, Viewer } from '../../src/records/rows.ts';
import type { Store } from '../../src/records/store.ts';
import { newCredentials } from '../../src/setup/credentials.ts';
import { addClient, type Credentials } from './clients.ts';

export async function addViewer(
  store: Pick<Store, 'viewers'>,
  more: Partial<Pick<Viewer, 'name' | 'expiresAt'>> = {},
): Promise<Credentials> {
  const { accessSecret, ...viewer } = newCredentials('VK');
  await store.viewers.add({ ...viewer, name: undefined, expiresAt: undefined, ...more }, new Date());
  return { accessKey: viewer.accessKey, accessSecret };
}

export interface SeededRecord {
  readonly id?: string;
  readonly clientId: string;
  readonly certificate: string;
  readonly signedAt: Date;
  readonly extra?: Extra;
  readonly counted?: boolean;
  readonly report?: ReportStatus;
}

/** Puts records into a SQLite database, all concurrently: signing as many would take the HSM its time. */
export function seedRecords(path: string, records: Iterable<SeededRecord>): void {
  const file = new Database(path);
  try {
    file.exec('BEGIN IMMEDIATE');
    const insert = file.prepare(
      `insert into records (id, client_id, certificate, algorithm, digest, extra, signed_at, month, counted, report_status, reported_at, signature)
       values (?, ?, ?, 'SHA256', ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    const signature = Buffer.alloc(384, 1).toString('base64');
    for (const { id = randomUUID(), clientId, certificate, signedAt, extra, counted = true, report } of records) {
      const at = signedAt.toISOString();
      insert.run(
        ...[id, clientId, certificate, id.replaceAll('-', '').padEnd(64, '0').slice(0, 64)],
        ...[extra === undefined ? null : JSON.stringify(extra), at, at.slice(0, 7), counted ? 1 : 0],
        ...[report ?? null, report === undefined ? null : at, signature],
      );
    }
    file.exec(
      `update clients set signatures = (select count(*) from records where client_id = clients.id and counted = 1)`,
    );
    file.exec('COMMIT');
  } finally {
    file.close();
  }
}

export const DAY = 86_400_000;

/** Each text would run a script, or control a terminal or spreadsheet, if it were not escaped. */
export const HOSTILE = [
  '<script>window.harmed = 1; alert(1)</script>',
  '"><img src=x onerror="window.harmed = 1">',
  "' onfocus='window.harmed = 1' autofocus tabindex=1 x='",
  '</title></style></textarea></select><svg onload=window.harmed=1>',
  'javascript:window.harmed=1',
  'http:evil.example',
  '\u202egpj.exe\u2066\u001b[31m\u0000',
  'W'.repeat(4000),
];

/** Fills a page with certificates, clients and calls in every state. @returns a viewer of it */
export async function seedPage(store: Store, database: string, now: Date): Promise<Credentials> {
  const ago = (days: number) => new Date(now.getTime() - days * DAY);
  const [certificate] = await store.certificates.list();
  if (certificate === undefined) throw new Error('no certificate');
  for (const [number, notBefore, notAfter] of [
    ['over', ago(400), ago(3)],
    ['soon', ago(300), ago(-29.5)],
    ['next', ago(-2), ago(-700)],
    ['good', ago(1), ago(-365.5)],
  ] as const) {
    await store.certificates.add({ ...certificate, number, notBefore, notAfter }, now);
  }
  await store.certificates.add({ ...certificate, number: 'broken', chain: 'none' }, now);
  await store.certificates.disable('broken', true);
  const client = (id: string, more: object) => addClient(store, { id, accessKey: `AK-${id}`, ...more });
  await client('half', { name: 'Half', quota: 8, monthlyQuota: 10 });
  await client('full', { name: 'Full', quota: 2 });
  await client('none', { name: 'Zero', quota: 0 });
  for (const [index, name] of HOSTILE.entries()) {
    await client(`hostile-${index}`, { name: name.replaceAll('\0', '').slice(0, 64), expiresAt: ago(1) });
  }
  await store.clients.change('AK-none', { disabled: true });
  const signed = (clientId: string, count: number, more: object) =>
    Array.from({ length: count }, () => ({ clientId, certificate: 'good', signedAt: now, ...more }));
  seedRecords(database, [
    ...signed('half', 4, { signedAt: ago(0.1), report: 1, extra: { signing_filename: 'setup.exe' } }),
    ...signed('half', 1, { signedAt: ago(0.2), counted: false }),
    ...signed('full', 2, { signedAt: ago(29), report: 2 }),
    ...HOSTILE.flatMap((name, index) =>
      signed(`hostile-${index}`, 1, { signedAt: ago(500), extra: { signing_filename: name, hostname: name } }),
    ),
  ]);
  return await addViewer(store, { name: 'On call <i>' });
}
