/** Hostile certificate tables: lengths, revisions and types that lie, and entries without end. */

import { peWithTable, winCertificate } from '../../support/signed-files/hostile-pe.ts';
import { type HostileFile, hostile, repeated, signature } from './cases.ts';

export const TABLE_CASES: readonly HostileFile[] = [
  ...[0, 7, 0x7fffffff, 0xffffffff].map((length) =>
    hostile(`an entry that says it has ${length} bytes`, 'unsigned', 'certificate-table-damaged', () =>
      peWithTable(winCertificate(signature(), { length })),
    ),
  ),
  hostile('an entry of 8 bytes', 'broken', 'signature-unreadable', () => peWithTable(winCertificate(new Uint8Array()))),
  hostile('an entry of an unknown type', 'unsigned', 'certificate-table-other-type', () =>
    peWithTable(winCertificate(signature(), { type: 0xffff })),
  ),
  hostile('an entry of an unknown revision', 'unsupported', 'certificate-table-revision-unknown', () =>
    peWithTable(winCertificate(signature(), { revision: 0xffff })),
  ),
  hostile('100,000 entries', 'broken', 'certificate-table-damaged', () =>
    peWithTable(repeated(100_000, winCertificate(new Uint8Array()))),
  ),
  hostile('64 signatures side by side', 'untrusted', 'certificate-table-several', () =>
    peWithTable(repeated(64, winCertificate(signature()))),
  ),
  hostile('a table that says it has 4 GiB', 'broken', 'file-truncated', () =>
    peWithTable(winCertificate(signature()), 0xffffffff),
  ),
  hostile('a table of no bytes', 'unsigned', 'certificate-table-stale', () => peWithTable(new Uint8Array(), 8)),
];
