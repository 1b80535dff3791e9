import { describe, expect, it } from 'vitest';
import type { FileOfRun } from '../../../src/policy/classified-file.ts';
import type { Policy } from '../../../src/policy/policy-file.ts';
import { createClassifier } from '../../../src/policy/rules.ts';
import { isGoodVerdict, type VerifiedFile, type VerifiedSignature } from '../../../src/verifying/verdict.ts';

const TODAY = '2026-06-15';

const signature: VerifiedSignature = {
  place: 'certificate table',
  integrity: 'intact',
  trust: 'trusted',
  signer: { name: 'Us', sha256: 'a'.repeat(64), path: [], root: undefined },
  algorithm: 'SHA256',
  time: undefined,
  timestamps: [],
  findings: [],
  nested: [],
};

type Given = Partial<FileOfRun> & {
  readonly verdict?: VerifiedFile['verdict'];
  readonly signatures?: readonly VerifiedSignature[];
};

function file(name: string, { verdict, signatures, ...given }: Given = {}): FileOfRun {
  const verified = verdict && {
    path: name,
    format: given.kind ?? 'pe',
    verdict,
    error: undefined,
    findings: [],
    signatures: signatures ?? (verdict === 'unsigned' ? [] : [signature]),
  };
  return {
    path: ['dist', name],
    pathInFolder: 'dist',
    kind: 'pe',
    verified: verified || undefined,
    notOpened: undefined,
    coveredBy: undefined,
    sameAs: undefined,
    ...given,
  };
}

const policy = (rest: Omit<Policy, 'version' | 'path'>): Policy => ({ version: 1, path: 'policy.json', ...rest });
const resultOf = (given: FileOfRun, rules?: Policy) => {
  const { result, cause, covered } = createClassifier(rules, TODAY).classify(given);
  return [result, cause ?? covered];
};

describe('without a policy', () => {
  it.each([
    ['pe', 'trusted', ['good', 'own']],
    ['pe', 'intact', ['good', 'own']],
    ['pe', 'unsigned', ['failed', 'unsigned']],
    ['msi', 'unsigned', ['failed', 'unsigned']],
    ['appx', 'unsigned', ['failed', 'unsigned']],
    ['jar', 'unsigned', ['not-required', undefined]],
    ['pdf', 'unsigned', ['not-required', undefined]],
    ['pdf', 'broken', ['failed', 'broken']],
    ['jar', 'untrusted', ['failed', 'untrusted']],
    ['cat', 'unsupported', ['failed', 'unsupported']],
  ] as const)('a file of the kind %s that is %s gets %j', (kind, verdict, expected) => {
    expect(resultOf(file('a', { kind, verdict }))).toEqual(expected);
  });

  it.each([
    ['elf', 'not-signable'],
    ['mach-o', 'not-signable'],
    ['apk', 'not-checked'],
    ['other', 'not-required'],
  ])('a file of the kind %s is %s', (kind, result) => {
    expect(resultOf(file('a', { kind }))).toEqual([result, undefined]);
  });

  it('accepts an unsigned program in a good package, and no broken one', () => {
    expect(resultOf(file('a', { verdict: 'unsigned', coveredBy: 'package' }))).toEqual(['good', 'package']);
    expect(resultOf(file('a', { verdict: 'broken', coveredBy: 'package' }))).toEqual(['failed', 'broken']);
  });

  it('fails for a container that is damaged, and not for one of an unknown kind', () => {
    const classifier = createClassifier(undefined, TODAY);
    const unknown = { code: 'container-unsupported', message: '' };
    const damaged = { code: 'zip-malformed', message: '' };
    expect(classifier.classify(file('a', { notOpened: unknown }))).toMatchObject({
      result: 'not-opened',
      isFailure: false,
    });
    expect(classifier.classify(file('a', { notOpened: damaged }))).toMatchObject({
      result: 'not-opened',
      isFailure: true,
    });
  });
});

describe('with a policy', () => {
  it('decides by the last rule that matches, and by the defaults for what that rule lacks', () => {
    const defaults = { require: 'signed' } as const;
    const rules: NonNullable<Policy['rules']> = [
      { files: ['*.dll'], signers: [`sha256:${'b'.repeat(64)}`] },
      { files: ['vc*.dll'], kinds: ['pe'] },
    ];
    const classifier = createClassifier(policy({ defaults, rules }), TODAY);
    expect(classifier.classify(file('a.dll', { verdict: 'trusted' }))).toMatchObject({
      rule: 0,
      cause: 'signer-differs',
    });
    expect(classifier.classify(file('vc.dll', { verdict: 'trusted' }))).toMatchObject({ rule: 1, result: 'good' });
    expect(classifier.classify(file('vc.dll', { verdict: 'unsigned' }))).toMatchObject({ rule: 1, cause: 'unsigned' });
    expect(classifier.classify(file('a.txt', { kind: 'other' }))).toMatchObject({ rule: undefined, cause: 'unsigned' });
  });

  it('requires signer, timestamp and digest of one and the same signature', () => {
    const old = { ...signature, algorithm: 'SHA1', time: new Date() } as const;
    const defaults = { timestamp: true, signers: [`sha256:${'a'.repeat(64)}`] };
    const both = (signatures: readonly VerifiedSignature[]) =>
      resultOf(file('a', { verdict: 'trusted', signatures }), policy({ defaults }));
    expect(both([signature])).toEqual(['failed', 'timestamp-required']);
    expect(both([old, signature])[0]).toBe('failed');
    expect(both([old])).toEqual(['failed', 'algorithm-too-weak']);
    expect(both([old, { ...signature, time: new Date() }])).toEqual(['good', 'own']);
  });

  it('makes exceptions until their last day', () => {
    const rules = (until: string): NonNullable<Policy['rules']> => [
      { files: ['*'], require: 'nothing', reason: 'old', until },
    ];
    expect(resultOf(file('a', { verdict: 'broken' }), policy({ rules: rules(TODAY) }))).toEqual(['exempt', undefined]);
    expect(resultOf(file('a', { verdict: 'broken' }), policy({ rules: rules('2026-06-14') }))).toEqual([
      'failed',
      'exception-expired',
    ]);
  });

  it('accepts no broken signature where none is needed', () => {
    const rules: NonNullable<Policy['rules']> = [{ files: ['*'], require: 'intact', reason: 'tools' }];
    expect(resultOf(file('a', { verdict: 'unsigned' }), policy({ rules }))).toEqual(['exempt', undefined]);
    expect(resultOf(file('a', { verdict: 'broken' }), policy({ rules }))).toEqual(['failed', 'broken']);
  });

  it('accepts only the covers that it names, and unknown containers only if it says so', () => {
    const own = policy({ defaults: { covered: ['own'], notOpened: 'fail' } });
    expect(resultOf(file('a', { verdict: 'unsigned', coveredBy: 'package' }), own)).toEqual(['failed', 'unsigned']);
    const byPackage = policy({ defaults: { covered: ['package'] } });
    expect(resultOf(file('a', { verdict: 'trusted', coveredBy: 'package' }), byPackage)).toEqual(['good', 'package']);
    expect(resultOf(file('a', { verdict: 'trusted' }), byPackage)).toEqual(['failed', 'not-covered']);
    const classified = createClassifier(own, TODAY).classify(
      file('a', { notOpened: { code: 'container-unsupported', message: '' } }),
    );
    expect(classified.isFailure).toBe(true);
  });

  it('requires one good file, or the numbers that it names', () => {
    const empty = createClassifier(policy({}), TODAY);
    expect(empty.missing()).toMatchObject([{ pattern: '**', least: 1, good: 0 }]);
    empty.classify(file('a.exe', { verdict: 'trusted' }));
    expect(empty.missing()).toEqual([]);
    const classifier = createClassifier(policy({ minimum: { '*.exe': 2 } }), TODAY);
    classifier.classify(file('a.exe', { verdict: 'trusted' }));
    classifier.classify(file('b.dll', { verdict: 'trusted' }));
    classifier.classify(file('c.exe', { verdict: 'unsigned' }));
    expect(classifier.missing()).toMatchObject([{ pattern: '*.exe', least: 2, good: 1 }]);
  });

  it('warns about exceptions that match nothing, or are not needed', () => {
    const exception = { require: 'nothing', reason: 'old' } as const;
    const rules: NonNullable<Policy['rules']> = [
      { files: ['*.old'], ...exception },
      { files: ['*.exe'], ...exception },
      { files: ['*.dll'], ...exception },
    ];
    const classifier = createClassifier(policy({ rules }), TODAY);
    classifier.classify(file('a.exe', { verdict: 'trusted' }));
    classifier.classify(file('a.dll', { verdict: 'unsigned' }));
    expect(classifier.warnings()).toEqual([
      expect.stringMatching(/\*\.old.*\[exception-unused\]/),
      expect.stringMatching(/\*\.exe.*all 1.*\[exception-not-needed\]/),
    ]);
  });
});

it('calls only two verdicts good', () => {
  const verdicts = ['trusted', 'intact', 'not-accepted', 'untrusted', 'unsupported', 'broken', 'unsigned'] as const;
  expect(verdicts.filter(isGoodVerdict)).toEqual(['trusted', 'intact']);
});
