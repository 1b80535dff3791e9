/** What the tests of the page look at: viewers, and records of any time and any name, put into the database as they are. */

import { randomUUID } from 'node:crypto';
import Database from 'libsql';
import type { Extra } from '../../../src/service/messages.ts';
import type { ReportStatus, Viewer } from '../../src/records/rows.ts';
import type { Store } from '../../src/records/store.ts';
import { newCredentials } from '../../src/setup/credentials.ts';
import type { Credentials } from './clients.ts';

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
