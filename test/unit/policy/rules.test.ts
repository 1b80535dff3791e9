import { describe, expect, it } from 'vitest';
import type { FileOfRun } from '../../../src/policy/classified-file.ts';
import type { Policy } from '../../../src/policy/policy-file.ts';
import { createClassifier } from '../../../src/policy/rules.ts';
import { file, type Given, signature } from './file-of-run.ts';

const TODAY = '2026-06-15';

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
    ['jar', 'not-accepted', ['failed', 'not-accepted']],
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
});

const notOpened = (code: string) => ({ notOpened: { code, message: '' } });
const UNKNOWN = notOpened('container-unsupported');
const IN_PACKAGE = { verdict: 'unsigned', coveredBy: 'package' } as const;
const exemptUntil = (until: string) => policy({ rules: [{ files: ['*'], require: 'nothing', reason: 'old', until }] });
const TOOLS = policy({ rules: [{ files: ['*'], require: 'intact', reason: 'tools' }] });
const OWN_ONLY = policy({ defaults: { covered: ['own'], notOpened: 'fail' } });
const BY_PACKAGE = policy({ defaults: { covered: ['package'] } });

it.each<[string, Given, Policy | undefined, string, string?]>([
  ['an unsigned program in a good package', IN_PACKAGE, undefined, 'good', 'package'],
  ['a broken program in it', { ...IN_PACKAGE, verdict: 'broken' }, undefined, 'failed', 'broken'],
  ['a package that the policy does not name', IN_PACKAGE, OWN_ONLY, 'failed', 'unsigned'],
  ['a package that it names', { ...IN_PACKAGE, verdict: 'trusted' }, BY_PACKAGE, 'good', 'package'],
  ['a signature that it does not name', { verdict: 'trusted' }, BY_PACKAGE, 'failed', 'not-covered'],
  ['an exception on its last day', { verdict: 'broken' }, exemptUntil(TODAY), 'exempt'],
  ['an exception after it', { verdict: 'broken' }, exemptUntil('2026-06-14'), 'failed', 'exception-expired'],
  ['an unsigned file where none is needed', { verdict: 'unsigned' }, TOOLS, 'exempt'],
  ['a broken file there', { verdict: 'broken' }, TOOLS, 'failed', 'broken'],
])('%s gets %3$s', (_what, given, rules, ...expected) => {
  expect(resultOf(file('a', given), rules)).toEqual([expected[0], expected[1]]);
});

it.each([
  ['a damaged container', notOpened('zip-malformed'), undefined, true],
  ['one of an unknown kind', UNKNOWN, undefined, false],
  ['one of an unknown kind, if the policy says so', UNKNOWN, OWN_ONLY, true],
])('%s is a failure: %3$s', (_what, given, rules, isFailure) => {
  const classified = createClassifier(rules, TODAY).classify(file('a', given));
  expect(classified).toMatchObject({ result: 'not-opened', isFailure });
});

describe('with a policy', () => {
  it('decides by the last rule that matches, and by the defaults for what that rule lacks', () => {
    const defaults = { require: 'signed' } as const;
    const rules: NonNullable<Policy['rules']> = [
      { files: ['*.dll'], signers: [`sha256:${'b'.repeat(64)}`] },
      { files: ['vc*.dll'], kinds: ['pe'] },
    ];
    const classifier = createClassifier(policy({ defaults, rules }), TODAY);
    const decided = (...given: Parameters<typeof file>) => {
      const { rule, cause } = classifier.classify(file(...given));
      return [rule, cause];
    };
    expect(decided('a.dll', { verdict: 'trusted' })).toEqual([0, 'signer-differs']);
    expect(decided('vc.dll', { verdict: 'trusted' })).toEqual([1, undefined]);
    expect(decided('vc.dll', { verdict: 'unsigned' })).toEqual([1, 'unsigned']);
    expect(decided('a.txt', { kind: 'other' })).toEqual([undefined, 'unsigned']);
  });

  it('requires signer, timestamp and digest of one and the same signature', () => {
    const old = { ...signature, algorithm: 'SHA1', time: new Date() } as const;
    const defaults = { timestamp: true, signers: [`sha256:${'a'.repeat(64)}`] };
    const both = (signatures: readonly (typeof signature)[]) =>
      resultOf(file('a', { verdict: 'trusted', signatures }), policy({ defaults }));
    expect(both([signature])).toEqual(['failed', 'timestamp-required']);
    expect(both([old, signature])[0]).toBe('failed');
    expect(both([old])).toEqual(['failed', 'algorithm-too-weak']);
    expect(both([old, { ...signature, time: new Date() }])).toEqual(['good', 'own']);
  });

  it('requires the numbers of good files that it names', () => {
    const classifier = createClassifier(policy({ minimum: { '*.exe': 2 } }), TODAY);
    classifier.classify(file('a.exe', { verdict: 'trusted' }));
    classifier.classify(file('b.dll', { verdict: 'trusted' }));
    classifier.classify(file('c.exe', { verdict: 'unsigned' }));
    expect(classifier.missing()).toMatchObject([{ pattern: '*.exe', least: 2, good: 1 }]);
  });

  it('warns about exceptions that match nothing, or are not needed', () => {
    const exception = { require: 'nothing', reason: 'old' } as const;
    const rules = ['*.old', '*.exe', '*.dll'].map((pattern) => ({ files: [pattern], ...exception }));
    const classifier = createClassifier(policy({ rules }), TODAY);
    classifier.classify(file('a.exe', { verdict: 'trusted' }));
    classifier.classify(file('a.dll', { verdict: 'unsigned' }));
    expect(classifier.warnings()).toEqual([
      expect.stringMatching(/\*\.old.*\[exception-unused\]/),
      expect.stringMatching(/\*\.exe.*all 1.*\[exception-not-needed\]/),
    ]);
  });
});
