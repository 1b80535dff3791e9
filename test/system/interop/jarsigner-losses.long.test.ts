/** What jarsigner loses of a JAR without a word, next to what this program makes of such files: nothing is lost. */

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { jar } from '../../../src/formats/jar/index.ts';
import { fixture } from '../../support/programs/cli.ts';
import { folderForAll } from '../../support/set-up.ts';
import { makeThrowawaySigner } from '../../support/signed-files/throwaway-signer.ts';
import { fixturesIn, readFixture } from '../../unit/formats/support/fixtures.ts';
import { signBytes } from '../../unit/formats/support/sign-bytes.ts';
import { lossesOf } from './compare-archives.ts';
import { jarsignerSignAll, makeKeystore } from './java/jarsigner.ts';

const folder = folderForAll();
const signer = await makeThrowawaySigner();
const keystore = makeKeystore(folder);

const LOSSES: Readonly<Record<string, string>> = {
  'preamble-unfixed.jar': 'preamble: 35 bytes → 0',
  'preamble-fixed.jar': 'preamble: 35 bytes → 0',
  'archive-comment.jar': 'comment: 23 bytes → 0',
  'manifest-without-last-newline.jar': 'manifest: Main-Class: hello.Hello',
  'entry-comments.jar': 'directory: hello/run.sh',
};

it('jarsigner silently loses parts of an archive', async () => {
  const names = Object.keys(LOSSES);
  const output = (name: string) => path.join(folder, name);
  const said = await jarsignerSignAll(
    names.map((name) => ({ keystore, input: fixture(`jar/${name}`), output: output(name) })),
  );
  for (const name of names)
    expect(lossesOf(readFixture(`jar/${name}`), readFileSync(output(name)))).toContain(LOSSES[name]);
  expect(said.join()).not.toMatch(/script|preamble|prefix|before|comment|extra|manifest|main-class|line/i);
});

it.each(fixturesIn('jar'))('this program loses nothing: $name', async ({ bytes }) => {
  expect(lossesOf(bytes, (await signBytes(jar, bytes, signer)).result)).toEqual([]);
});
