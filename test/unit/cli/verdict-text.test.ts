import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { Io } from '../../../src/cli/io.ts';
import { annotateVerdict, printRootsHint, printVerdict, verdictCounts } from '../../../src/cli/output/verdict-text.ts';
import { type Finding, note, unsupported, untrusted, warning } from '../../../src/errors/finding.ts';
import type { Identity, VerifiedFile, VerifiedSignature, VerifiedTimestamp } from '../../../src/verifying/verdict.ts';

const against = (code: string): Finding => untrusted(code, `${code}.`);
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

function written(write: (io: Io) => void): string {
  const stdout = new PassThrough();
  write({ stdout, stderr: stdout, env: { GITHUB_ACTIONS: 'true' } } as unknown as Io);
  return String(stdout.read() ?? '');
}

const printed = (file: VerifiedFile, options = {}): string => written((io) => printVerdict(file, options, io));

describe('a file with an unknown root', () => {
  const unproven = timestamp('2024-01-01', 'root-not-trusted');
  const unknown = ['root-not-trusted', 'certificate-expired'];

  it('leads with the roots, and hides what only follows from them', () => {
    expect(printed(fileWith([unproven], ...unknown))).toBe(
      'untrusted     a.exe: root "Corp Root", root "TSA Root" of a timestamp are not among your trusted roots; intact, signed by "Corp", with a timestamp of 2024-01-01T00:00:00Z\n',
    );
  });

  it('is followed by one hint for all files', () => {
    const file = fileWith([unproven], ...unknown);
    expect(written((io) => printRootsHint([file, file], io))).toMatch(/^ +hint: .*--roots[^\n]*\n$/);
    expect(written((io) => printRootsHint([{ ...file, verdict: 'broken' }], io))).toBe('');
  });

  const late = timestamp('2025-06-01', 'root-not-trusted');
  const faulty = timestamp('2024-01-01', 'root-not-trusted', 'timestamp-in-future');

  it.each([
    ['another objection', fileWith([unproven], ...unknown, 'certificate-revoked'), 'certificate-revoked'],
    ['an expired certificate', fileWith([], ...unknown), 'certificate-expired,timestamp-required'],
    ['a late timestamp', fileWith([late], ...unknown), 'certificate-expired,timestamp-required'],
    [
      'a timestamp with another fault',
      fileWith([faulty], 'root-not-trusted'),
      'timestamp-in-future,timestamp-required',
    ],
  ])('still shows %s', (_, file, expected) => {
    const codes = [...printed(file).matchAll(/\[([a-z-]+)\]/g)].map(([, code]) => code);
    expect(codes.sort().join()).toBe(expected);
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
      findings: [...signature.findings, { code, message: `${code}.`, weight: 'broken' }],
    })),
  });

  it.each([
    ['content-digest-differs', 'its content changed after it was signed by "Corp"'],
    ['pdf-changed-after-signing', 'its content changed after it was signed by "Corp"'],
    ['message-digest-differs', 'its content changed after it was signed by "Corp"'],
    ['entries-removed', 'its content changed after it was signed by "Corp"'],
    ['hidden-bytes', 'not intact; it claims to be signed by "Corp"'],
  ])('leads with what %s means, without a word about trust', (code, headline) => {
    expect(printed(brokenBy(code))).toBe(`broken        a.exe: ${headline}\n              ${code}. [${code}]\n`);
  });

  it('leads with the signature that is broken', () => {
    const [good, bad] = [unknown, brokenBy('content-digest-differs')].flatMap(({ signatures }) => signatures);
    if (good === undefined || bad === undefined) throw new Error('no signature');
    const second = { ...bad, signer: identity('Other', 'Corp Root') };
    const firstLine = (...signatures: readonly VerifiedSignature[]) =>
      printed({ ...unknown, verdict: 'broken', signatures }).replace(/\n.*/s, '');
    const text = 'broken        a.exe: its content changed after it was signed by "Other"';
    expect(firstLine(good, second)).toBe(`${text} (and 1 more)`);
    expect(firstLine({ ...good, nested: [second] })).toBe(text);
  });

  it('shows what counts against trust with --verbose, after the cause', () => {
    expect(printed(brokenBy('content-digest-differs'), { verbose: true })).toMatch(
      /its content changed.*\[root-not-trusted\]/s,
    );
  });
});

it('says that a file cannot be verified, with the reason, and does not mention trust', () => {
  const [signature] = fileWith([], 'root-not-trusted').signatures;
  const findings = [unsupported('digest-algorithm-unknown', 'The digest is not known.')];
  const signed = signature === undefined ? [] : [{ ...signature, findings: [...signature.findings, ...findings] }];
  const file = { ...fileWith([]), verdict: 'unsupported' } as const;
  const reason = '              The digest is not known. [digest-algorithm-unknown]\n';
  expect(printed({ ...file, signatures: signed })).toBe(
    `unsupported   a.exe: cannot be verified; it claims to be signed by "Corp"\n${reason}`,
  );
  expect(printed({ ...file, signatures: [], findings })).toBe(`unsupported   a.exe: cannot be verified\n${reason}`);
});

const withFindings = (findings: readonly Finding[], change: (signature: VerifiedSignature) => object = () => ({})) => {
  const { signatures, ...file } = fileWith([]);
  return { ...file, findings, signatures: signatures.map((signature) => ({ ...signature, ...change(signature) })) };
};
const PLACES: Readonly<Record<string, (findings: readonly Finding[]) => VerifiedFile>> = {
  'the file': (findings) => withFindings(findings),
  'a signature': (findings) => withFindings([], () => ({ findings })),
  'a nested signature': (findings) => withFindings([], (signature) => ({ nested: [{ ...signature, findings }] })),
  'a timestamp': (findings) => withFindings([], () => ({ timestamps: [{ ...timestamp('2024-01-01'), findings }] })),
};

describe.each(Object.entries(PLACES))('a finding of %s', (_, place) => {
  it.each(['trusted', 'intact', 'untrusted', 'not-accepted', 'unsupported', 'broken', 'unsigned'] as const)(
    'is shown, counted and annotated if it is a warning, and shown with --verbose if it is a note: %s',
    (verdict) => {
      const warned = { ...place([warning('checksum-wrong', 'It is wrong.')]), verdict };
      const noted = { ...place([note('checksum-missing', 'It is missing.')]), verdict };
      const annotated = (file: VerifiedFile, options = {}) => written((io) => annotateVerdict(file, io, options));
      expect(printed(warned)).toContain(' warning: It is wrong. [checksum-wrong]\n');
      expect(annotated(warned)).toContain(
        '::warning file=a.exe,title=codesign-remote::It is wrong. [checksum-wrong]\n',
      );
      for (const write of [printed, annotated]) expect(write(warned, { quiet: true })).not.toContain('checksum-wrong');
      expect(verdictCounts([warned, warned])).toEqual([`2 ${verdict}`, '2 warnings']);
      for (const write of [printed, annotated]) expect(write(noted)).not.toContain('checksum-missing');
      expect(printed(noted, { verbose: true })).toContain(' It is missing. [checksum-missing]\n');
      expect(verdictCounts([noted])).toEqual([`1 ${verdict}`]);
    },
  );
});
