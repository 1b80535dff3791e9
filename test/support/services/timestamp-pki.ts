/** Good and bad certificates of the tests' timestamp authority. All of them use one of two keys. */

import { CODE_SIGNING, type IssuedCertificate, issue, TIME_STAMPING, testKey } from '../signed-files/pki.ts';

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

export function makeTimestampPki() {
  const authority = authorities++ % DIFFERENT_AUTHORITIES;
  const of = authority === 0 ? '' : ` ${authority}`;
  const [rootKey, key] = [testKey('rsa-2048', `timestamp root${of}`), testKey('rsa-2048', `timestamp tsa${of}`)];
  const root = issue({ commonName: `Test Timestamp Root${of}`, organization: 'Test', key: rootKey, ca: true });
  const subject = { commonName: 'Test Timestamp Authority', organization: 'Test', issuer: root, key };
  const certificates = Object.entries(CERTIFICATES).map(([name, { number, ...more }]) => {
    return [name, issue({ ...subject, serialNumber: Uint8Array.of(0x10, number), ...more })] as const;
  });
  return { root, certificates: Object.fromEntries(certificates) as Record<TimestampCertificate, IssuedCertificate> };
}

export type TimestampPki = ReturnType<typeof makeTimestampPki>;
