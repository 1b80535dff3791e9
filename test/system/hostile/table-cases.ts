/** Hostile certificate tables: lengths, revisions and types that lie, and entries without end. */

import { peWithTable, winCertificate } from '../../support/signed-files/hostile-pe.ts';
import { type HostileFile, repeated, signature } from './cases.ts';

export const TABLE_CASES: readonly HostileFile[] = [
  ...[0, 7, 0x7fffffff, 0xffffffff].map(
    (length): HostileFile => ({
      what: `an entry that says it has ${length} bytes`,
      make: () => peWithTable(winCertificate(signature(), { length })),
      // Without an entry that can be read there is no signature.
      verdict: 'unsigned',
      code: 'certificate-table-damaged',
    }),
  ),
  {
    what: 'an entry of 8 bytes',
    make: () => peWithTable(winCertificate(new Uint8Array())),
    verdict: 'broken',
    code: 'signature-unreadable',
  },
  {
    what: 'an entry of an unknown type',
    make: () => peWithTable(winCertificate(signature(), { type: 0xffff })),
    verdict: 'unsigned',
    code: 'certificate-table-other-type',
  },
  {
    what: 'an entry of an unknown revision',
    make: () => peWithTable(winCertificate(signature(), { revision: 0xffff })),
    verdict: 'unsupported',
    code: 'certificate-table-revision-unknown',
  },
  {
    what: '100,000 entries',
    make: () => peWithTable(repeated(100_000, winCertificate(new Uint8Array()))),
    verdict: 'broken',
    code: 'certificate-table-damaged',
  },
  {
    what: '64 signatures side by side',
    make: () => peWithTable(repeated(64, winCertificate(signature()))),
    verdict: 'untrusted',
    code: 'certificate-table-several',
  },
  {
    what: 'a table that says it has 4 GiB',
    make: () => peWithTable(winCertificate(signature()), 0xffffffff),
    verdict: 'broken',
    code: 'file-truncated',
  },
  {
    what: 'a table of no bytes',
    make: () => peWithTable(new Uint8Array(), 8),
    verdict: 'unsigned',
    code: 'certificate-table-stale',
  },
];
