/** Inspects every signed file of the corpus (CODESIGN_TEST_CORPUS): nothing in it may be without a name or out of its columns. */

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { composeReading } from '../../../../src/app/compose-local.ts';
import { inspectJson, inspectText } from '../../../../src/cli/output/inspect.ts';
import { jsonText } from '../../../../src/cli/output/json.ts';
import { widthOf } from '../../../../src/cli/output/text-layout.ts';
import { inspectFile } from '../../../../src/verifying/inspect-file.ts';

const corpus = process.env.CODESIGN_TEST_CORPUS ?? '';
/** Five arcs and more: no version number, no address of a network. */
const DOTTED = /(?<![\d.])[0-2](\.\d+){4,}/;

/** Made to be refused: what is wrong with them is another test's. */
const REFUSED = new Set(['signed-truncated-cert.exe']);

const signed = ['pe', 'pe-special', 'jar', 'jar-special'].flatMap((folder) =>
  corpus === ''
    ? []
    : readdirSync(path.join(corpus, folder))
        .filter((name) => !REFUSED.has(name))
        .map((name) => path.join(folder, name))
        .filter(isSigned),
);

/** As programs that are not ours see it. */
function isSigned(file: string): boolean {
  const full = path.join(corpus, file);
  if (file.startsWith('jar')) {
    const { stdout } = spawnSync('unzip', ['-Z1', full], { encoding: 'utf8' });
    const names = stdout.toUpperCase().split('\n');
    const bases = names.flatMap((name) => /^(META-INF\/[^/]+)\.(?:RSA|DSA|EC)$/.exec(name)?.[1] ?? []);
    return bases.some((base) => names.includes(`${base}.SF`));
  }
  if (readFileSync(full).subarray(0, 2).toString('latin1') !== 'MZ') return false;
  const { stdout } = spawnSync('osslsigncode', ['verify', '-in', full], { encoding: 'utf8' });
  return stdout.includes('Signer #0:');
}

describe.skipIf(corpus === '')('inspecting the corpus', () => {
  it('finds signed files in it', () => {
    expect(signed.length).toBeGreaterThan(30);
  });

  it.each(signed)('%s has a name for everything, and keeps to its columns', async (file) => {
    const inspected = await inspectFile(path.join(corpus, file), composeReading());
    expect(inspected.signatures.length).toBeGreaterThan(0);
    const text = inspectText({ ...inspected, path: path.basename(file) });
    expect(text).not.toMatch(/unknown|undefined|not readable|cannot be read/);
    expect(text.split('\n').filter((line) => DOTTED.test(line))).toEqual([]);
    expect(text.split('\n').filter((line) => widthOf(line) > 80)).toEqual([]);
    const document = JSON.parse(jsonText(inspectJson(inspected)));
    expect(document.signatures[0].signers[0].certificate).toMatch(/^[\da-f]{64}$/);
    expect(JSON.stringify(document)).not.toMatch(/"name":null/);
  });
});
