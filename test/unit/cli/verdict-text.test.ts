import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { Io } from '../../../src/cli/io.ts';
import { printVerdict } from '../../../src/cli/output/verdict-text.ts';
import type { Finding } from '../../../src/errors/finding.ts';
import type { Identity, VerifiedFile, VerifiedSignature, VerifiedTimestamp } from '../../../src/verifying/verdict.ts';

const against = (code: string): Finding => ({ code, message: `${code}.`, against: 'trust' });
const identity = (name: string, root: string): Identity => {
  const certificate = { der: new Uint8Array(), notBefore: new Date(0), notAfter: new Date('2025-01-01') };
  const path = [{ ...certificate, name, issuerName: root }];
  return { name, sha256: 'aa', path, root: { ...certificate, name: root, issuerName: root } };
};

function timestamp(time: string, ...codes: readonly string[]): VerifiedTimestamp {
  const findings = codes.map(against);
  const signer = identity('TSA', 'TSA Root');
  return { kind: 'rfc3161', time: new Date(time), integrity: 'intact', trust: 'untrusted', signer, findings };
}

function fileWith(timestamps: readonly VerifiedTimestamp[], ...codes: readonly string[]): VerifiedFile {
  const signature: VerifiedSignature = {
    place: 'entry 1',
    integrity: 'intact',
    trust: 'untrusted',
    signer: identity('Corp', 'Corp Root'),
    algorithm: 'SHA256',
    time: undefined,
    timestamps,
    findings: codes.map(against),
    nested: [],
  };
  const findings = [against('timestamp-required')];
  return { path: 'a.exe', format: 'pe', verdict: 'untrusted', error: undefined, findings, signatures: [signature] };
}

function printed(file: VerifiedFile, options = {}): string {
  const stdout = new PassThrough();
  printVerdict(file, options, { stdout, stderr: stdout, env: {} } as unknown as Io);
  return String(stdout.read());
}

describe('a file with an unknown root', () => {
  const unproven = timestamp('2024-01-01', 'root-not-trusted');
  const unknown = ['root-not-trusted', 'certificate-expired'];

  it('leads with the roots, and hides what only follows from them', () => {
    const [line, hint, ...others] = printed(fileWith([unproven], ...unknown))
      .trimEnd()
      .split('\n');
    expect(line).toBe(
      'untrusted     a.exe: root "Corp Root", root "TSA Root" of a timestamp are not among your trusted roots; intact, signed by "Corp", with a timestamp of 2024-01-01T00:00:00Z',
    );
    expect(hint).toContain('--roots');
    expect(others).toEqual([]);
  });

  it.each<[string, VerifiedFile, readonly string[]]>([
    ['another objection', fileWith([unproven], ...unknown, 'certificate-revoked'), ['certificate-revoked']],
    [
      'an expired certificate without a timestamp',
      fileWith([], ...unknown),
      ['certificate-expired', 'timestamp-required'],
    ],
    [
      'a timestamp after the end of the certificate',
      fileWith([timestamp('2025-06-01', 'root-not-trusted')], ...unknown),
      ['certificate-expired', 'timestamp-required'],
    ],
    [
      'a timestamp with another fault',
      fileWith([timestamp('2024-01-01', 'root-not-trusted', 'timestamp-in-future')], 'root-not-trusted'),
      ['timestamp-in-future', 'timestamp-required'],
    ],
  ])('still shows %s', (_, file, expected) => {
    const codes = [...printed(file).matchAll(/\[([a-z-]+)\]/g)].map(([, code]) => code);
    expect(codes.sort()).toEqual(expected);
  });

  it('shows everything with --verbose', () => {
    const text = printed(fileWith([unproven], ...unknown), { verbose: true });
    for (const code of [...unknown, 'timestamp-required']) expect(text).toContain(`[${code}]`);
  });
});

describe('a broken file', () => {
  const unknown = fileWith([], 'root-not-trusted', 'certificate-expired');
  const brokenBy = (code: string): VerifiedFile => ({
    ...unknown,
    verdict: 'broken',
    signatures: unknown.signatures.map((signature) => ({
      ...signature,
      integrity: 'broken',
      findings: [...signature.findings, { code, message: `${code}.`, against: 'integrity' }],
    })),
  });

  it.each(['content-digest-differs', 'pdf-changed-after-signing', 'message-digest-differs', 'entries-removed'])(
    'whose content changed leads with that: %s',
    (code) => {
      expect(printed(brokenBy(code)).trimEnd().split('\n')).toEqual([
        'broken        a.exe: its content changed after it was signed by "Corp"',
        `              ${code}. [${code}]`,
      ]);
    },
  );

  it('leads with the signature that is broken', () => {
    const [good] = unknown.signatures;
    const [bad] = brokenBy('content-digest-differs').signatures;
    if (good === undefined || bad === undefined) throw new Error('no signature');
    const second = { ...bad, signer: identity('Other', 'Corp Root') };
    const [line] = printed({ ...unknown, verdict: 'broken', signatures: [good, second] }).split('\n');
    expect(line).toBe('broken        a.exe: its content changed after it was signed by "Other" (and 1 more)');
    const [nested] = printed({ ...unknown, verdict: 'broken', signatures: [{ ...good, nested: [second] }] }).split(
      '\n',
    );
    expect(nested).toBe('broken        a.exe: its content changed after it was signed by "Other"');
  });

  it('with another fault is called not intact, and nothing is said of trust', () => {
    const [line, ...others] = printed(brokenBy('hidden-bytes')).trimEnd().split('\n');
    expect(line).toBe('broken        a.exe: not intact; it claims to be signed by "Corp"');
    expect(others).toEqual(['              hidden-bytes. [hidden-bytes]']);
  });

  it('shows what speaks against trust with --verbose, after the cause', () => {
    const text = printed(brokenBy('content-digest-differs'), { verbose: true });
    expect(text).toContain('[root-not-trusted]');
    expect(text.indexOf('its content changed')).toBeLessThan(text.indexOf('[root-not-trusted]'));
  });
});
