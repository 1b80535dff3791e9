/** Good and bad certificates of the tests' timestamp authority. All of them use one of two keys. */

import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { CODE_SIGNING, issue, type KeyPair, TIME_STAMPING, testKey } from '../signed-files/pki.ts';

/** `twin` has the same name and serial number as `tsa`. */
const CERTIFICATES = {
  tsa: { number: 1, purposes: [TIME_STAMPING] },
  twin: { number: 1, purposes: [TIME_STAMPING], notAfter: new Date('2044-01-01') },
  expired: { number: 2, purposes: [TIME_STAMPING], notAfter: new Date('2025-01-01') },
  uncritical: { number: 3, purposes: [TIME_STAMPING], isPurposeCritical: false },
  several: { number: 4, purposes: [TIME_STAMPING, CODE_SIGNING] },
  signer: { number: 5, purposes: [CODE_SIGNING] },
} as const;
export type TimestampCertificate = keyof typeof CERTIFICATES;
/** Authorities in a process that have their own keys and certificates: no test has more at the same time. */
const DIFFERENT_AUTHORITIES = 3;
let authorities = 0;

/** Writes `NAME.crt` for each certificate, `tsa.key` for all of them but the root, and `root.crt` into the folder. */
export async function makeTimestampPki(folder: string) {
  const authority = authorities++ % DIFFERENT_AUTHORITIES;
  const of = authority === 0 ? '' : ` ${authority}`;
  const [rootKey, key] = ['root', 'tsa'].map((name) => testKey('rsa-2048', `timestamp ${name}${of}`)) as [
    KeyPair,
    KeyPair,
  ];
  const root = issue({ commonName: `Test Timestamp Root${of}`, organization: 'Test', key: rootKey, ca: true });
  const subject = { commonName: 'Test Timestamp Authority', organization: 'Test', issuer: root, key };
  const pems = Object.entries(CERTIFICATES).map(([name, { number, ...more }]) => {
    return [name, issue({ ...subject, serialNumber: Uint8Array.of(0x10, number), ...more }).pem] as const;
  });
  const certificatePemOf = (name: TimestampCertificate): string => new Map<string, string>(pems).get(name) ?? '';
  for (const [name, pem] of [...pems, ['root', root.pem] as const])
    await writeFile(path.join(folder, `${name}.crt`), pem);
  await writeFile(path.join(folder, 'tsa.key'), key.privateKey.export({ type: 'pkcs8', format: 'pem' }));
  return { folder, rootPem: root.pem, certificatePem: certificatePemOf('tsa'), certificatePemOf };
}

export type TimestampPki = Awaited<ReturnType<typeof makeTimestampPki>>;
