/** Examination of trust: findings for every kind of certificate, no exceptions, and one search for equal requests. */

import { describe, expect, it } from 'vitest';
import { parseCrl } from '../../../src/certificates/revocation/crl.ts';
import type { Finding } from '../../../src/errors/finding.ts';
import { createRevocation } from '../../../src/verifying/revocation.ts';
import type { TrustRoots } from '../../../src/verifying/roots.ts';
import { type TrustRequest, trustExaminer } from '../../../src/verifying/trust.ts';
import { AUTHORITY, type Made, make, makeCrl, SIGNER } from './support/made-pki.ts';

const NOW = new Date('2026-06-01T00:00:00Z');

const root = make({ subject: 'Root' });
const intermediate = make({ subject: 'Issuing CA', issuer: root, extensions: AUTHORITY });
const leaf = make({ subject: 'Publisher', issuer: intermediate });

const rootsOf = (...roots: readonly Made[]): TrustRoots => ({
  roots: roots.map(({ parsed }) => parsed),
  source: 'roots.pem',
});
const ask = (asked: Partial<Omit<TrustRequest, 'leaf' | 'certificates'>> & { leaf: Made; pool?: readonly Made[] }) => ({
  at: NOW,
  purpose: 'code-signing' as const,
  ...asked,
  leaf: asked.leaf.der,
  certificates: (asked.pool ?? [intermediate]).map(({ der }) => der),
});
const codes = (findings: readonly { code: string; weight: string }[]) =>
  findings.map(({ code, weight }) => (weight === 'untrusted' ? code : `(${code})`));

describe('trust', () => {
  const own = make({ subject: 'Own', extensions: SIGNER });

  it.each([
    [leaf, [intermediate, root], 'root-not-trusted', 'root "Root" is not among the trusted roots (roots.pem)'],
    [own, [], 'root-not-trusted', 'self-signed certificate "Own"'],
    [leaf, [], 'chain-incomplete', 'The issuer "Issuing CA" of "Publisher"'],
  ])('names what is missing (%#)', async (signer, pool, code, words) => {
    const check = trustExaminer({ roots: rootsOf(make({ subject: 'Other' })), now: NOW });
    const trust = await check(ask({ leaf: signer, pool }));
    expect(trust).toMatchObject({ isTrusted: false, findings: [{ code, message: expect.stringContaining(words) }] });
  });

  it('ends with the certificate for a lifetime signer, whatever the time it signed at', async () => {
    const lifetime = ['extendedKeyUsage=codeSigning,1.3.6.1.4.1.311.10.3.13'];
    const signer = (extensions: readonly string[]) =>
      make({ subject: 'Signer', issuer: intermediate, extensions, to: '20260101000000Z' });
    const check = trustExaminer({ roots: rootsOf(root), now: NOW });
    const at = new Date('2025-06-01T00:00:00Z');
    expect(codes((await check(ask({ leaf: signer(lifetime), at }))).findings)).toEqual(['certificate-expired']);
    expect(codes((await check(ask({ leaf: signer(SIGNER), at }))).findings)).toEqual([]);
  });
});

it('odd certificates are findings, never exceptions', async () => {
  const check = trustExaminer({ roots: rootsOf(root), now: NOW });
  for (const bytes of [new Uint8Array(), Buffer.from('not a certificate'), leaf.der.subarray(0, 100)]) {
    const trust = await check({ ...ask({ leaf }), leaf: bytes });
    expect(trust).toMatchObject({ isTrusted: false, path: [], findings: [{ code: 'certificate-unreadable' }] });
    const withUnreadable = await check({ ...ask({ leaf }), certificates: [bytes, intermediate.der] });
    expect([withUnreadable.isTrusted, codes(withUnreadable.findings)]).toEqual([true, ['(certificate-unreadable)']]);
  }
});

describe('a question asked again', () => {
  it('is another one with other certificates, another time or purpose', async () => {
    const check = trustExaminer({ roots: rootsOf(root), now: NOW });
    expect((await check(ask({ leaf, pool: [] }))).isTrusted).toBe(false);
    expect((await check(ask({ leaf }))).isTrusted).toBe(true);
    expect((await check(ask({ leaf, at: new Date('2050-01-01') }))).isTrusted).toBe(false);
    expect((await check(ask({ leaf, purpose: 'time-stamping' }))).isTrusted).toBe(false);
  });

  /** Records which certificates are examined. */
  function recording(findings: readonly Finding[] = []) {
    const asked: string[] = [];
    const examine = async ({ name }: { readonly name: string }) => {
      asked.push(name);
      return findings;
    };
    return { asked, revocation: { examine } };
  }

  it('about what is below a revoked authority is not asked', async () => {
    const revoked = { code: 'certificate-revoked', message: 'Revoked.', weight: 'untrusted' } as const;
    const { asked, revocation } = recording([revoked]);
    const trust = await trustExaminer({ roots: rootsOf(root), now: NOW, revocation })(ask({ leaf }));
    expect([trust.isTrusted, codes(trust.findings), asked]).toEqual([false, ['certificate-revoked'], ['Issuing CA']]);
  });

  it('ends with a list that lists the certificate by another key of its issuer, certified by an authority of the path', async () => {
    const revoked = [{ certificate: leaf, date: '20240601000000Z', reason: 'keyCompromise' as const }];
    /** Findings with a list that revokes the certificate, and with one that does not. */
    const asked = (by: Made, pool: readonly Made[] = [by]) =>
      Promise.all(
        [{ revoked }, {}].map(async (request) => {
          const crls = [parseCrl(makeCrl({ issuer: by, ...request }))];
          const revocation = createRevocation({ crls, http: undefined, now: NOW });
          const check = trustExaminer({ roots: rootsOf(root), now: NOW, revocation });
          const { findings } = await check(ask({ leaf, pool: [intermediate, ...pool] }));
          return findings.map(({ code, message }) => `${code} ${/"(.*?)"/.exec(message)?.[1]}`);
        }),
      );
    const ofRoot = 'revocation-unknown Issuing CA';
    const unknown = [ofRoot, 'revocation-unknown Publisher'];
    const authority = { subject: 'Issuing CA', extensions: AUTHORITY };
    const [renewed, next, stranger] = [
      make({ ...authority, issuer: root }),
      make({ ...authority, issuer: intermediate }),
      make(authority),
    ];
    expect(await asked(renewed)).toEqual([[ofRoot, 'certificate-revoked Publisher'], unknown]);
    expect(await asked(next)).toEqual([[ofRoot, 'certificate-revoked Publisher'], unknown]);
    expect(await asked(stranger)).toEqual([unknown, unknown]);
    expect(await asked(renewed, [])).toEqual([unknown, unknown]);
  });

  it('of an untrusted path never reaches revocation, whose addresses anybody could have written', async () => {
    const { asked, revocation } = recording();
    const pool = [intermediate, root];
    await trustExaminer({ roots: rootsOf(make({ subject: 'Other' })), now: NOW, revocation })(ask({ leaf, pool }));
    expect(asked).toEqual([]);
    await trustExaminer({ roots: rootsOf(root), now: NOW, revocation })(ask({ leaf }));
    expect(asked).toEqual(['Issuing CA', 'Publisher']);
  });
});
