import { describe, expect, it } from 'vitest';
import type { ClassifiedFile } from '../../../src/policy/classified-file.ts';
import { firstPolicy } from '../../../src/policy/first-policy.ts';
import { createClassifier } from '../../../src/policy/rules.ts';
import { file } from './file-of-run.ts';

const unsigned = (...path: readonly [string, ...string[]]): ClassifiedFile =>
  createClassifier(undefined, '2026-06-15').classify(file('', { verdict: 'unsigned', path, pathInFolder: path[0] }));

function ruleFor(file: ClassifiedFile, policyFiles: readonly ClassifiedFile[]): number | undefined {
  const policy = { ...JSON.parse(firstPolicy(policyFiles, 'roots.pem')), path: 'policy.json' };
  return createClassifier(policy, '2026-06-15').classify(file).rule;
}

describe('the exception for unsigned files', () => {
  const outer = unsigned('app.exe');
  const many = Array.from({ length: 21 }, (_, index) => unsigned(`${index}.exe`));

  it.each([
    ['a file', outer],
    ['a file inside an archive', unsigned('app.zip', 'bin/app.exe')],
    ['a name with characters that patterns use', unsigned('!(a)[b]{c}+@|$^*?.exe')],
    ['a name with quotes', unsigned('"a".exe')],
  ])('matches %s', (_, file) => {
    expect(ruleFor(file, [file])).toBe(0);
  });

  it.each([
    ['a file of the same name in another folder', unsigned('lib/app.exe'), [outer]],
    ['a file of the same name inside an archive', unsigned('app.zip', 'app.exe'), [outer]],
    ['files in other folders if it lists the outermost folder', unsigned('lib/app.exe'), many],
  ])('does not match %s', (_, other, listed) => {
    expect(ruleFor(other, listed)).toBeUndefined();
  });
});
