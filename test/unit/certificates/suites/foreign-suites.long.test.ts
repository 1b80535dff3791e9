/** What BoringSSL's CRL and OCSP vectors and NIST PKITS expect, and where this program differs (README.md). */

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseCertificate } from '../../../../src/certificates/certificate.ts';
import { parseCrl } from '../../../../src/certificates/revocation/crl.ts';
import { statusByOcsp } from '../../../../src/certificates/revocation/ocsp.ts';
import { CodesignError, orUndefined } from '../../../../src/errors/codesign-error.ts';
import { createRevocation } from '../../../../src/verifying/revocation.ts';
import { trustExaminer } from '../../../../src/verifying/trust.ts';

const folder = process.env.CODESIGN_TEST_X509 ?? '';
const isMissing = folder === '';
const TIMES = { crl: new Date('2017-03-09T00:00:00Z'), ocsp: new Date('2017-03-05T00:00:00Z') };
/** Half a day after the answers were made. */
const FRESH = { crl: new Date('2017-03-02T12:00:00Z'), ocsp: new Date('2017-03-01T12:00:00Z') };
/** Lists signed by another key of the authority, and a certificate that cannot be read. */
const OTHER_REASON = /key_rollover|invalid_serial/;
const PKITS_TIME = new Date('2012-01-01T00:00:00Z');

type Kind = keyof typeof TIMES;

interface Vector {
  readonly kind: Kind;
  readonly file: string;
  readonly expected: string;
}

it.skipIf(process.env.CI === undefined)('has the folder of the suites where CI runs', () => {
  expect(isMissing, 'CODESIGN_TEST_X509 names the folder').toBe(false);
});

describe.skipIf(isMissing)('a vector of BoringSSL', () => {
  const vectors = isMissing ? [] : readVectors();

  it('is there for every kind of answer', () => {
    expect(vectors.filter(({ kind }) => kind === 'crl').length).toBeGreaterThan(60);
    expect(vectors.filter(({ kind }) => kind === 'ocsp').length).toBeGreaterThan(35);
  });

  it('is checked as expected, or as README.md explains', async () => {
    const found: string[][] = [];
    for (const { kind, file, expected } of vectors) {
      const ours = await checkVector(kind, file, TIMES[kind]);
      if (ours !== expected) found.push([`${kind}/${file}`, expected, ours]);
    }
    expect(found.sort()).toEqual([...deviations('crl'), ...deviations('ocsp')]);
  });

  it('that names no next update is checked as expected within a day', async () => {
    const stale = [...deviations('crl'), ...deviations('ocsp')].filter(([name = '', expected, ours]) => {
      return expected === 'good' && ours === 'unknown' && !OTHER_REASON.test(name);
    });
    expect(stale.length).toBeGreaterThan(10);
    for (const [name = ''] of stale) {
      const [kind, file] = name.split('/') as [Kind, string];
      expect([name, await checkVector(kind, file, FRESH[kind])]).toEqual([name, 'good']);
    }
  });
});

it.skipIf(isMissing)(
  'a certificate of PKITS is accepted or rejected according to its name, or as README.md explains',
  async () => {
    const verdicts = await checkPkits();
    expect(verdicts.length).toBeGreaterThan(200);
    const found = verdicts.flatMap(([file, ours]) => {
      const expected = file.startsWith('Valid') ? 'accepted' : 'rejected';
      return ours === expected ? [] : [[`pkits/${file}`, expected, ours]];
    });
    expect(found.sort()).toEqual(deviations('pkits'));
  },
);

/** Vectors of a suite in README.md, sorted: name, expected result, and result of this program. Each has a reason. */
function deviations(suite: string): string[][] {
  const table = readFileSync(new URL('README.md', import.meta.url), 'utf8');
  const rows = [...table.matchAll(/^\| (\w+) \| (\w+) \| (\w+) \| ([^|]+) \| .{20,} \|$/gm)];
  return rows
    .filter((row) => row[1] === suite)
    .flatMap(([, , expected = '', ours = '', files = '']) =>
      Array.from(files.matchAll(/`([^`]+)`/g), ([, file]) => [`${suite}/${file}`, expected, ours]),
    )
    .sort();
}

function readVectors(): Vector[] {
  const lines = readFileSync(path.join(folder, 'expected.tsv'), 'utf8').trim().split('\n');
  return lines
    .filter((line) => !line.startsWith('#'))
    .map((line) => line.split('\t'))
    .map(([kind, file = '', expected = '']) => ({ kind: kind as Kind, file, expected }));
}

async function checkVector(kind: Kind, file: string, now: Date): Promise<string> {
  const pem = readFileSync(path.join(folder, 'boringssl', `${kind}_unittest`, file), 'latin1');
  try {
    const certificate = parseCertificate(block(pem, 'CERTIFICATE'), file);
    const issuer = parseCertificate(block(pem, 'CA CERTIFICATE'), file);
    if (kind === 'ocsp') return statusByOcsp(block(pem, 'OCSP RESPONSE'), certificate, issuer, now).kind;
    const crls = [parseCrl(block(pem, 'CRL'))];
    const other = block(pem, 'CA CERTIFICATE 2');
    const otherKeys = other.length === 0 ? [] : [parseCertificate(other, file)];
    const findings = await createRevocation({ crls, http: undefined, now }).examine(
      certificate,
      issuer,
      now,
      otherKeys,
    );
    if (findings.length === 0) return 'good';
    return findings.some(({ code }) => code === 'certificate-revoked') ? 'revoked' : 'unknown';
  } catch (thrown) {
    if (!(thrown instanceof CodesignError)) throw thrown;
    return 'unknown';
  }
}

/** Contents of the PEM block with this label. */
function block(pem: string, label: string): Uint8Array {
  const [, base64 = ''] = new RegExp(`-----BEGIN ${label}-----([^-]+)-----END`).exec(pem) ?? [];
  return new Uint8Array(Buffer.from(base64, 'base64'));
}

/** By the whole judgement of trust, with all CRLs, from the one anchor; only the purpose is not asked about. */
async function checkPkits(): Promise<(readonly [string, string])[]> {
  const certificates = filesIn('certs');
  const crls = filesIn('crls').flatMap(([, der]) => orUndefined(() => parseCrl(der)) ?? []);
  const anchor = certificates.find(([file]) => file === 'TrustAnchorRootCertificate.crt')?.[1] ?? new Uint8Array();
  const revocation = createRevocation({ crls, http: undefined, now: PKITS_TIME });
  const roots = { roots: [parseCertificate(anchor, 'anchor')], source: 'PKITS' };
  const check = trustExaminer({ roots, now: PKITS_TIME, revocation });
  const pool = certificates.filter(([name]) => !name.endsWith('EE.crt')).map(([, der]) => der);
  const verdicts: (readonly [string, string])[] = [];
  for (const [file, leaf] of certificates) {
    if (!/^(Valid|Invalid).*EE\.crt$/.test(file)) continue;
    const { findings } = await check({ leaf, certificates: pool, at: PKITS_TIME, purpose: 'code-signing' });
    const objections = findings.filter(({ weight, code }) => weight === 'untrusted' && code !== 'certificate-purpose');
    verdicts.push([file, objections.length === 0 ? 'accepted' : 'rejected']);
  }
  return verdicts;
}

function filesIn(name: string): (readonly [string, Uint8Array])[] {
  const all = path.join(folder, 'nist-pkits', name);
  return readdirSync(all)
    .sort()
    .map((file) => [file, new Uint8Array(readFileSync(path.join(all, file)))] as const);
}
