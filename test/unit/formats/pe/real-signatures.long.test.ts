/** Every PE of the corpus (CODESIGN_TEST_CORPUS): examined as osslsigncode checks it, taken apart and put together again. */

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { CodesignError } from '../../../../src/errors/codesign-error.ts';
import { hasFindingAgainst } from '../../../../src/errors/finding.ts';
import type { SignableFile } from '../../../../src/format/signable-file.ts';
import { withNested } from '../../../../src/format/signature.ts';
import { pe } from '../../../../src/formats/pe/index.ts';
import { checkAll, run } from '../../../system/interop/verifiers.ts';
import { applyPatch } from '../support/apply-patch.ts';
import { placeIn, removalOf, signingIn } from '../support/change.ts';
import { isIntact } from '../support/is-intact.ts';
import { openBytes } from '../support/sign-bytes.ts';

const corpus = process.env.CODESIGN_TEST_CORPUS ?? '';
/** Broken on purpose by the corpus, in ways that osslsigncode does not see. */
const BROKEN_ON_PURPOSE = ['signed-data-in-cert.exe', 'signed-two-wincerts.exe'];
const programs = corpus === '' ? [] : ['pe', 'pe-special'].flatMap(filesIn);
const signedPrograms: string[] = [];

/** The files that say they are PEs. */
function filesIn(name: string): string[] {
  return readdirSync(path.join(corpus, name))
    .map((file) => path.join(name, file))
    .filter((file) => readFileSync(path.join(corpus, file)).toString('latin1', 0, 2) === 'MZ');
}

const read = (file: string): Buffer => readFileSync(path.join(corpus, file));

async function tryOpen(bytes: Buffer): Promise<SignableFile | undefined> {
  try {
    return await openBytes(pe, bytes);
  } catch (thrown) {
    if (!(thrown instanceof CodesignError)) throw thrown;
    return undefined;
  }
}

describe.skipIf(corpus === '')('the corpus', () => {
  it('has each signature with the digest that osslsigncode finds, matching or not', async () => {
    const verdicts = await checkAll(programs, (file) =>
      run('osslsigncode', ['verify', '-in', path.join(corpus, file)]),
    );
    for (const [index, file] of programs.entries()) {
      const opened = await tryOpen(read(file));
      const { output = '' } = verdicts[index] ?? {};
      if (opened === undefined) continue;
      const all = withNested(await opened.signatures());
      const details = await Promise.all(all.map((each) => each.details()));
      const ours = details.flatMap((lines) => lines.filter(({ name }) => name === 'content digest'));
      const theirs = [
        ...output.matchAll(/Current message digest *: (\w+)\s+Calculated message digest *: (\w+)( +MISMATCH)?/g),
      ];
      if (theirs.length === 0) continue;
      signedPrograms.push(file);
      const expected = theirs.map(([, digest = '', actual]) => `${digest.toLowerCase()} ${digest === actual}`);
      const found = ours.map(({ value }) => `${value.split(' ')[1]} ${value.endsWith('(matches)')}`);
      expect([file, [...new Set(found)]]).toEqual([file, [...new Set(expected)]]);
    }
    expect(signedPrograms.length).toBeGreaterThan(25);
  });

  it('is intact, and so are its timestamps, except for what it breaks on purpose', async () => {
    for (const file of signedPrograms) {
      const opened = await openBytes(pe, read(file));
      const isBroken = BROKEN_ON_PURPOSE.includes(path.basename(file));
      const findings = [...(await opened.examine())];
      for (const each of withNested(await opened.signatures())) {
        findings.push(...(await each.examine()), ...each.timestamps.flatMap((timestamp) => timestamp.findings));
        for (const { time } of each.timestamps) expect([file, time]).toEqual([file, expect.any(Date)]);
      }
      expect([file, hasFindingAgainst(findings, 'integrity')]).toEqual([file, isBroken]);
    }
  });

  it('has no signature once that is removed, and an intact one once it is attached again', async () => {
    for (const file of signedPrograms) {
      const opened = await openBytes(pe, read(file));
      const [signature = expect.unreachable()] = await opened.signatures();
      const removed = applyPatch(read(file), await removalOf(opened));
      const unsigned = await openBytes(pe, removed);
      expect(await unsigned.signatures()).toEqual([]);
      const attached = await placeIn(unsigned, signature.envelope);
      const again = await openBytes(pe, applyPatch(removed, attached.patch));
      await signingIn(again).verify(attached);
      for (const each of withNested(await again.signatures()))
        expect([file, await isIntact(each)]).toEqual([file, true]);
    }
  }, 120_000);
});
