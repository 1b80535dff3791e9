/** What programs that are not ours say of the scripts that we sign (CODESIGN_TEST_PAIRS, CODESIGN_TEST_CORPUS, CODESIGN_TEST_VERIFIERS). */

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { CodesignError } from '../../../../src/errors/codesign-error.ts';
import { powershell, wsh } from '../../../../src/formats/script/index.ts';
import { scriptKindOf } from '../../../../src/formats/script/kinds.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { judgeAll, osslsigncodeVerify, run } from '../../../system/interop/verifiers.ts';
import { signBytes } from '../support/sign-bytes.ts';

const {
  CODESIGN_TEST_PAIRS: pairs = '',
  CODESIGN_TEST_CORPUS: corpus = '',
  CODESIGN_TEST_VERIFIERS: verifiers = '',
} = process.env;
const isWhole = pairs !== '' && corpus !== '' && verifiers !== '';

/** Of the peculiar scripts, those that must be rejected, and why. */
const REJECTED: Readonly<Record<string, string>> = {
  'nul.ps1': 'script-encoding',
  'sig-begin-only.ps1': 'script-block-damaged',
  'sig-in-string.ps1': 'script-block-damaged',
  'sig-then-code.ps1': 'script-block-damaged',
  'utf16-odd.ps1': 'script-encoding',
};

const filesIn = (folder: string): readonly string[] =>
  (readdirSync(folder, { recursive: true }) as string[])
    .filter((name) => scriptKindOf(name) !== undefined)
    .map((name) => path.join(folder, name));

describe.skipIf(!isWhole)('scripts that are signed', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'codesign-scripts-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const signer = await makeThrowawaySigner();
  const root = path.join(folder, 'root.pem');
  writeFileSync(root, signer.root);

  /** The result in a file of its own, or the code of the refusal. */
  async function signFile(file: string, index: number): Promise<string> {
    const kind = scriptKindOf(file);
    const format = kind?.family === 'powershell' ? powershell : wsh;
    try {
      const { result, sealed } = await signBytes(format, readFileSync(file), signer, { name: file });
      const target = path.join(folder, String(index), path.basename(file));
      mkdirSync(path.dirname(target));
      writeFileSync(target, result);
      writeFileSync(`${target}.cms`, sealed);
      return target;
    } catch (thrown) {
      if (thrown instanceof CodesignError) return thrown.code;
      throw thrown;
    }
  }

  it('are accepted by the verifiers, or rejected for a reason', async () => {
    const files = isWhole
      ? [...filesIn(path.join(pairs, 'generated-unsigned', 'scripts')), ...filesIn(path.join(corpus, 'ps1-special'))]
      : [];
    expect(files.length).toBeGreaterThan(70);
    const refused = new Map<string, string>();
    const signed: string[] = [];
    for (const [index, file] of files.entries()) {
      const result = await signFile(file, index);
      if (path.isAbsolute(result)) signed.push(result);
      else refused.set(path.basename(file), result);
    }
    const isBigEndian = (name: string) => name.startsWith('utf16be');
    expect(Object.fromEntries([...refused].filter(([name]) => !isBigEndian(name)))).toEqual(REJECTED);
    for (const [name, code] of refused) if (isBigEndian(name)) expect(code).toBe('script-encoding');

    const verdicts = await judgeAll(signed, async (file) => {
      const isPowerShell = scriptKindOf(file)?.family === 'powershell';
      const checker = path.join(verifiers, 'formats', isPowerShell ? 'pscheck.py' : 'wshcheck.py');
      const content = await run('python3', [checker, file]);
      const cms = await run('bash', [path.join(verifiers, 'formats', 'cmscheck.sh'), `${file}.cms`, root]);
      // osslsigncode knows neither Windows Script Host nor psc1, cdxml and mof.
      const isKnown = ['.ps1', '.psm1', '.psd1', '.ps1xml'].includes(path.extname(file));
      const whole = isKnown ? await osslsigncodeVerify(root, file) : { accepted: true, output: '' };
      const output = content.output + cms.output + whole.output;
      return { file, accepted: content.accepted && cms.accepted && whole.accepted, output };
    });
    expect(verdicts.filter(({ accepted }) => !accepted)).toEqual([]);

    // The checkers notice a change.
    for (const [checker, name] of [
      ['pscheck.py', 'utf8-lf.ps1'],
      ['wshcheck.py', 'utf8-lf.vbs'],
    ] as const) {
      const file = signed.find((each) => path.basename(each) === name) ?? '';
      writeFileSync(file, readFileSync(file, 'latin1').replace('psign', 'pSign'), 'latin1');
      expect((await run('python3', [path.join(verifiers, 'formats', checker), file])).accepted).toBe(false);
    }
  });
});
