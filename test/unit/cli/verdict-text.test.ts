import { readFileSync } from 'node:fs';
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
    const [line, ...others] = printed(fileWith([unproven], ...unknown))
      .trimEnd()
      .split('\n');
    expect(line).toBe(
      'untrusted     a.exe: root "Corp Root", root "TSA Root" of a timestamp are not among your trusted roots; intact, signed by "Corp", with a timestamp of 2024-01-01T00:00:00Z',
    );
    expect(others).toEqual([]);
  });

  it('is followed by one hint for all files', () => {
    const file = fileWith([unproven], ...unknown);
    expect(written((io) => printRootsHint([file, file], io))).toMatch(/^ +hint: .*--roots[^\n]*\n$/);
    expect(written((io) => printRootsHint([{ ...file, verdict: 'broken' }], io))).toBe('');
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
      findings: [...signature.findings, { code, message: `${code}.`, weight: 'broken' }],
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

  it('with another fault is called not intact, without a word about trust', () => {
    const [line, ...others] = printed(brokenBy('hidden-bytes')).trimEnd().split('\n');
    expect(line).toBe('broken        a.exe: not intact; it claims to be signed by "Corp"');
    expect(others).toEqual(['              hidden-bytes. [hidden-bytes]']);
  });

  it('shows what counts against trust with --verbose, after the cause', () => {
    const text = printed(brokenBy('content-digest-differs'), { verbose: true });
    expect(text).toContain('[root-not-trusted]');
    expect(text.indexOf('its content changed')).toBeLessThan(text.indexOf('[root-not-trusted]'));
  });
});

describe('a file that cannot be verified', () => {
  const unknown = fileWith([], 'root-not-trusted');
  const [signature] = unknown.signatures;
  const findings = [unsupported('digest-algorithm-unknown', 'The digest is not known.')];

  it('says so, with the reason, and does not mention trust', () => {
    const signatures =
      signature === undefined ? [] : [{ ...signature, findings: [...signature.findings, ...findings] }];
    expect(
      printed({ ...unknown, verdict: 'unsupported', signatures })
        .trimEnd()
        .split('\n'),
    ).toEqual([
      'unsupported   a.exe: cannot be verified; it claims to be signed by "Corp"',
      '              The digest is not known. [digest-algorithm-unknown]',
    ]);
    expect(printed({ ...unknown, verdict: 'unsupported', signatures: [], findings })).toMatch(
      /^unsupported {3}a\.exe: cannot be verified\n.*\[digest-algorithm-unknown\]\n$/,
    );
  });
});

describe('a good file with a warning and a note', () => {
  const file: VerifiedFile = {
    ...fileWith([]),
    verdict: 'trusted',
    findings: [warning('checksum-wrong', 'It is wrong.'), note('checksum-missing', 'It is missing.')],
  };

  it('shows the warning, and the note with --verbose', () => {
    expect(printed(file)).toContain('\n              warning: It is wrong. [checksum-wrong]\n');
    expect(printed(file)).not.toContain('checksum-missing');
    expect(printed(file, { verbose: true })).toContain('\n              It is missing. [checksum-missing]\n');
    expect(printed(file, { quiet: true })).toBe('');
  });

  it('shows the warning with every verdict, but not with --quiet', () => {
    for (const verdict of ['untrusted', 'unsupported', 'broken', 'unsigned', 'not-accepted'] as const) {
      expect(printed({ ...file, verdict })).toContain('[checksum-wrong]');
      expect(printed({ ...file, verdict }, { quiet: true })).toMatch(/^[^\n]*a\.exe[^\n]*\n$/);
    }
  });

  it('is counted, and annotated', () => {
    expect(verdictCounts([file, { ...file, verdict: 'untrusted' }])).toEqual([
      '1 trusted',
      '1 untrusted',
      '2 warnings',
    ]);
    const annotated = (options: object) => written((io) => annotateVerdict(file, io, options));
    expect(annotated({})).toBe('::warning file=a.exe,title=codesign-remote::It is wrong. [checksum-wrong]\n');
    expect(annotated({ quiet: true })).toBe('');
  });
});

/** Every finding with each of its weights: `docs/findings.md` is made from the source. */
const FINDINGS: readonly Finding[] = [
  ...readFileSync(new URL('../../../docs/findings.md', import.meta.url), 'utf8').matchAll(
    /^\| `([a-z0-9-]+)` \| (.*) \|$/gm,
  ),
].flatMap(([, code = '', weights = '']) =>
  weights.split(', ').map((weight) => ({ code, message: `${code}.`, weight: weight as Finding['weight'] })),
);

describe.each(['trusted', 'intact', 'untrusted', 'not-accepted', 'unsupported', 'broken', 'unsigned'] as const)(
  'a file with the verdict %s and every finding',
  (verdict) => {
    const file = fileWith([timestamp('2024-01-01')]);
    const places: Readonly<Record<string, (finding: Finding) => VerifiedFile>> = {
      'the file': (finding) => ({ ...file, verdict, findings: [finding] }),
      'a signature': (finding) => withSignature((signature) => ({ ...signature, findings: [finding] })),
      'a nested signature': (finding) =>
        withSignature((signature) => ({ ...signature, nested: [{ ...signature, findings: [finding] }] })),
      'a timestamp': (finding) =>
        withSignature((signature) => ({
          ...signature,
          timestamps: signature.timestamps.map((one) => ({ ...one, findings: [finding] })),
        })),
    };
    const withSignature = (change: (signature: VerifiedSignature) => VerifiedSignature): VerifiedFile => ({
      ...file,
      verdict,
      findings: [],
      signatures: file.signatures.map(change),
    });

    it.each(Object.entries(places))(
      'shows, counts and annotates the warnings of %s, and notes on request',
      (_, place) => {
        expect(FINDINGS.length).toBeGreaterThan(100);
        for (const finding of FINDINGS) {
          const found = place(finding);
          const annotated = written((io) => annotateVerdict(found, io, {})).includes('::warning ');
          const isWarning = finding.weight === 'warning';
          expect([finding, printed(found, { verbose: true })]).toEqual([
            finding,
            expect.stringContaining(`[${finding.code}]`),
          ]);
          if (isWarning || finding.weight === 'note')
            expect([finding, printed(found).includes(`[${finding.code}]`)]).toEqual([finding, isWarning]);
          expect([finding, annotated, verdictCounts([found]).includes('1 warning')]).toEqual([
            finding,
            isWarning,
            isWarning,
          ]);
        }
      },
    );
  },
);
