/** The verdict on a file, made from the findings of its format, of its timestamps and of the examination of trust. */

import { describe, expect, it } from 'vitest';
import { memorySource } from '../../../src/bytes/byte-source.ts';
import { defineErrors } from '../../../src/errors/define-errors.ts';
import type { Finding } from '../../../src/errors/finding.ts';
import type { Format } from '../../../src/format/format.ts';
import { cmsEnvelope, type FoundSignature } from '../../../src/format/signature.ts';
import { pe } from '../../../src/formats/pe/index.ts';
import { recogniseFormat } from '../../../src/formats/recognise.ts';
import type { Timestamp } from '../../../src/timestamp/timestamp.ts';
import type { ExamineTrust, Trust } from '../../../src/verifying/trust.ts';
import type { VerifiedFile, VerifyPolicy } from '../../../src/verifying/verdict.ts';
import { verifySource } from '../../../src/verifying/verify-file.ts';
import { readFixture } from '../formats/support/fixtures.ts';
import { openBytes } from '../formats/support/sign-bytes.ts';
import { INTEGRITY_ONLY, NO_POLICY } from './support/integrity-only.ts';

const NOW = new Date('2026-06-01T12:00:00Z');
const EARLIER = new Date('2024-06-01T12:00:00Z');
const SIGNER = Uint8Array.of(1);
const AUTHORITY = Uint8Array.of(2);
const BROKEN: Finding = { code: 'content-digest-differs', message: 'It differs.', weight: 'broken' };
const ODD: Finding = { code: 'odd', message: 'It is odd.', weight: 'warning' };
const UNSUPPORTED: Finding = { code: 'kind-unknown', message: 'It is unknown.', weight: 'unsupported' };
const NOT_TRUSTED: Finding = { code: 'root-not-trusted', message: 'Not trusted.', weight: 'untrusted' };

function signature(more: Partial<FoundSignature> & { readonly findings?: readonly Finding[] } = {}): FoundSignature {
  const { findings = [], ...given } = more;
  return {
    location: 'here',
    envelope: cmsEnvelope(new Uint8Array()),
    signer: { name: 'Signer', certificate: SIGNER },
    certificates: [],
    algorithm: 'SHA256',
    value: undefined,
    signedBytes: undefined,
    contained: [],
    timestamps: [],
    details: async () => [],
    examine: async () => findings,
    ...given,
  };
}

const nesting = (more?: Parameters<typeof signature>[0]) => [{ as: 'nested', signature: signature(more) }] as const;

const NO_CERTIFICATE = { name: 'Signer', certificate: undefined };

function timestamp(more: Partial<Timestamp> = {}): Timestamp {
  return {
    kind: 'rfc3161',
    bytes: new Uint8Array(),
    time: EARLIER,
    algorithm: 'sha256',
    policy: '1.2.3',
    serialNumber: '01',
    signerCertificate: AUTHORITY,
    signerName: 'Authority',
    certificates: [],
    findings: [],
    ...more,
  };
}

interface Setting {
  readonly signatures: readonly FoundSignature[];
  /** Findings about the file. */
  readonly findings?: readonly Finding[];
  /** Default: everyone is trusted. undefined: trust is not asked about. */
  readonly checkTrust?: ExamineTrust | undefined;
  readonly policy?: Partial<VerifyPolicy>;
}

const trusted: Trust = { isTrusted: true, path: [], root: undefined, findings: [] };
const untrusted: Trust = { isTrusted: false, path: [], root: undefined, findings: [NOT_TRUSTED] };
const trustAll: ExamineTrust = async () => trusted;
const trustNobodyOf =
  (certificate: Uint8Array): ExamineTrust =>
  async ({ leaf }) =>
    leaf === certificate ? untrusted : trusted;
/** For a certificate that was valid only at one time. */
const trustAt =
  (time: Date): ExamineTrust =>
  async ({ at, purpose }) =>
    purpose === 'time-stamping' || at.getTime() === time.getTime() ? trusted : untrusted;

const EMPTY = memorySource(new Uint8Array());
const program = await openBytes(pe, readFixture('pe/hello.exe'));

function verifyWith(open: Format['open'], setting: Partial<Setting> = {}): Promise<VerifiedFile> {
  const examineTrust = 'checkTrust' in setting ? setting.checkTrust : trustAll;
  const policy = { ...NO_POLICY, ...setting.policy };
  const format = { ...pe, open, seemsSigned: async () => true };
  return verifySource(EMPTY, 'file', format, { ...INTEGRITY_ONLY, examineTrust, now: NOW, policy });
}

function verify({ signatures, findings = [], ...setting }: Setting): Promise<VerifiedFile> {
  const file = { ...program, signatures: async () => signatures, examine: async () => findings };
  return verifyWith(async () => file, setting);
}

const verdictOf = async (setting: Setting) => (await verify(setting)).verdict;

describe('the verdict', () => {
  const broken = signature({ findings: [BROKEN] });
  const unknown = signature({ findings: [UNSUPPORTED] });

  it.each<[VerifiedFile['verdict'], string, Setting]>([
    ['unsigned', 'a file without a signature, whatever else is odd', { signatures: [], findings: [BROKEN] }],
    ['broken', 'a broken file', { signatures: [signature()], findings: [BROKEN] }],
    ['broken', 'a broken nested one', { signatures: [signature({ contained: nesting({ findings: [BROKEN] }) })] }],
    ['broken', 'a broken one next to a good one', { signatures: [signature(), broken] }],
    ['broken', 'a broken one next to an unsupported one', { signatures: [unknown, broken] }],
    ['unsupported', 'a file', { signatures: [signature()], findings: [UNSUPPORTED] }],
    [
      'unsupported',
      'a timestamp',
      { signatures: [signature({ timestamps: [timestamp({ findings: [UNSUPPORTED] })] })] },
    ],
    ['unsupported', 'a signature of nobody', { signatures: [unknown], checkTrust: trustNobodyOf(SIGNER) }],
    ['unsupported', 'one without a timestamp', { signatures: [unknown], policy: { requireTimestamp: true } }],
    ['trusted', 'warnings', { signatures: [signature({ findings: [ODD] })], findings: [ODD] }],
    ['untrusted', 'a missing certificate', { signatures: [signature({ signer: NO_CERTIFICATE })] }],
  ])('is %s for %s', async (verdict, _, setting) => {
    expect(await verdictOf(setting)).toBe(verdict);
  });

  it('is unsupported for a file whose format throws an error that is marked so', async () => {
    const errors = defineErrors('local', { 'kind-unknown': { message: 'the kind is unknown', isUnsupported: true } });
    expect(await verifyWith(() => Promise.reject(errors('kind-unknown')))).toMatchObject({
      verdict: 'unsupported',
      findings: [{ code: 'kind-unknown', message: 'The kind is unknown.', weight: 'unsupported' }],
    });
  });

  const DAMAGED = Buffer.from('Write-Host \xe4\r\n', 'latin1');
  const BLOCK = Buffer.from('# SIG # Begin signature block\r\n');
  const RDP = Buffer.from('full address:s:b\r\nfull address:s:c\r\n');
  const SIGNED_RDP = Buffer.concat([RDP, Buffer.from('signature:s:AQ==\r\n')]);
  const SIGNED = readFixture('golden/sha256-rsa2048.exe');

  it.each<[string, string, Uint8Array, string, string]>([
    ['a script without BOM', 'a.ps1', DAMAGED, 'unsigned', 'script-encoding'],
    ['the same with a block', 'a.ps1', Buffer.concat([DAMAGED, BLOCK]), 'unsupported', 'script-encoding'],
    ['a script with half a block', 'a.ps1', BLOCK, 'broken', 'script-block-damaged'],
    ['a DOS program', 'a.exe', Buffer.from('MZ'.padEnd(100, '\0')), 'unsigned', 'not-a-pe'],
    ['a truncated program', 'a.exe', readFixture('pe/pe32.exe').subarray(0, 600), 'unsigned', 'file-truncated'],
    ['a truncated signed program', 'a.exe', SIGNED.subarray(0, -100), 'broken', 'file-truncated'],
    ['an ambiguous connection file', 'a.rdp', RDP, 'unsigned', 'rdp-setting-ambiguous'],
    ['the same with a signature', 'a.rdp', SIGNED_RDP, 'broken', 'rdp-setting-ambiguous'],
  ])(
    'is unsigned for a file that cannot be read, without a trace of a signature: %s',
    async (_, name, bytes, verdict, code) => {
      const source = memorySource(bytes);
      const verified = await verifySource(
        source,
        name,
        await recogniseFormat(source, [name], INTEGRITY_ONLY),
        INTEGRITY_ONLY,
      );
      const weight = verdict === 'unsigned' ? 'note' : verdict;
      expect(verified).toMatchObject({ verdict, error: undefined, findings: [{ code, weight }] });
    },
  );
});

describe('a timestamp', () => {
  it('lets the signer be checked at its time instead of now', async () => {
    const checkTrust = trustAt(EARLIER);
    expect(await verdictOf({ signatures: [signature()], checkTrust })).toBe('untrusted');
    const file = await verify({ signatures: [signature({ timestamps: [timestamp()] })], checkTrust });
    expect(file.verdict).toBe('trusted');
    expect(file.signatures[0]?.time).toEqual(EARLIER);
  });

  it('returns its earliest time if there are several, also where trust is not asked about', async () => {
    const timestamps = [timestamp({ time: new Date('2025-01-01T00:00:00Z') }), timestamp()];
    const file = await verify({ signatures: [signature({ timestamps })], checkTrust: undefined });
    expect(file).toMatchObject({ verdict: 'intact', signatures: [{ time: EARLIER, trust: 'not-checked' }] });
  });
});

// The recorded sessions of verify hold the rest of what may be required of a signature.
it.each<[string, VerifiedFile['verdict'], Partial<VerifyPolicy>, FoundSignature]>([
  ['a timestamp that is there', 'trusted', { requireTimestamp: true }, signature({ timestamps: [timestamp()] })],
  [
    'an algorithm that a nested one has',
    'trusted',
    { leastAlgorithm: 'SHA256' },
    signature({ algorithm: 'SHA1', contained: nesting() }),
  ],
  ['an algorithm of one without any', 'not-accepted', { leastAlgorithm: 'SHA1' }, signature({ algorithm: undefined })],
  ['a name in other letters', 'not-accepted', { signer: { commonName: 'signer' } }, signature()],
  [
    'a name without a certificate',
    'not-accepted',
    { signer: { commonName: 'Signer' } },
    signature({ signer: NO_CERTIFICATE }),
  ],
])('a required signature: %s', async (_, verdict, policy, one) => {
  const checkTrust = verdict === 'trusted' ? trustAll : undefined;
  expect(await verdictOf({ signatures: [one], policy, checkTrust })).toBe(verdict);
});
