/** Names made to act on a terminal, to forge lines, or to pass for something else: nothing prints them raw. */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { contextConstructed, encode, sequence, utf16be } from '../../../src/asn1/write.ts';
import { runCli, temporaryFolder } from '../../support/programs/cli.ts';
import { name } from '../../support/signed-files/hostile-certificates.ts';
import { attribute } from '../../support/signed-files/hostile-cms.ts';
import {
  hostileJar,
  MAIN_SECTION,
  section,
  signatureBlock,
  signatureFile,
} from '../../support/signed-files/hostile-jar.ts';
import { expectSane } from './bounds.ts';
import { OPUS_INFO, programWith, signer, signerWith } from './cases.ts';

/** Clears the screen, sets the title, turns the reading direction, forges lines and a certificate; a lone surrogate. */
const EVIL = 'A\u001b[2J\u001b]0;x\u0007\u202eexe.\r\ntrusted       forged\u2028\u2029\u0085\u009b1m\u0000\ud800';
const FORGED = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----';
/** What acts on a terminal, all but the end of a line. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const ACTIVE = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]/;

const opus = attribute(
  OPUS_INFO,
  sequence(
    contextConstructed(0, encode(0x80, utf16be(EVIL))),
    contextConstructed(1, encode(0x80, Buffer.from(`javascript:alert(1)${EVIL}`))),
  ),
);

const programs = {
  'in UTF-8': () => signerWith({ subject: name(EVIL), issuer: name(EVIL) }),
  'in UTF-16': () => signerWith({ subject: name(utf16be(EVIL), 0x1e), issuer: name(utf16be(EVIL), 0x1e) }),
  'that forge a certificate': () => signerWith({ subject: name(FORGED), issuer: name(FORGED) }),
};

const COMMANDS = [
  ['verify'],
  ['verify', '-v'],
  ['verify', '--json'],
  ['inspect'],
  ['inspect', '--json'],
  ['inspect', '--certificates'],
  ['remove', '--output', 'out'],
  ['attach', 'signature', '--output', 'out'],
] as const;

async function expectHarmless(bytes: Uint8Array, fileName: string): Promise<void> {
  await using folder = await temporaryFolder('codesign-names-');
  await writeFile(join(folder.path, fileName), bytes);
  await runCli(['extract', fileName, '--output', 'signature'], { cwd: folder.path });
  for (const [command, ...options] of COMMANDS) {
    const run = await runCli([command, fileName, ...options], { cwd: folder.path });
    expectSane(run, [0, 6, 8]);
    expect(run.stdout).not.toMatch(ACTIVE);
    expect(run.stderr).not.toMatch(ACTIVE);
    expect(run.stdout).not.toMatch(/^trusted/m);
    const armour = run.stdout.match(/^-----BEGIN CERTIFICATE-----$/gm)?.length ?? 0;
    expect([command, armour]).toEqual([command, options[0] === '--certificates' ? expect.any(Number) : 0]);
    expect(armour).toBeLessThan(2);
  }
}

it.each(Object.entries(programs))('names of certificates %s', async (_, make) => {
  await expectHarmless(programWith({ signer: make(), signedAttributes: [opus] }), 'app.exe');
});

it('names of files in an archive, and of what signed it', async () => {
  const evil = EVIL.replace(/[\r\n\0\ud800]/g, '');
  const manifest = `${MAIN_SECTION}${section('a', 'a')}`;
  const file = signatureFile(manifest, new Map([[evil, 'x']])).replace('\r\n', `\r\nCreated-By: ${evil}\r\n`);
  const block = signatureBlock(file, { signer: signerWith({ subject: name(EVIL) }) });
  const entries = [evil, '::error::forged', '<script>'].map((each) => ({ name: each, contents: 'a' }));
  await expectHarmless(hostileJar({ manifest, signatures: { [evil]: [file, block] }, entries }), 'app.jar');
});

it('names of the files themselves', async () => {
  const fileName = 'A\u001b[2J\u202eexe.\r\ntrusted       forged\u2028.exe';
  await expectHarmless(programWith({ signer }), fileName);
});
