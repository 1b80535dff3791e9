/**
 * Holds signed JARs still, for each algorithm and key size, with recorded signatures and no key: everything but the
 * compressed bytes of manifest and signature file, which another zlib may compress otherwise.
 */

import { describe, expect, it } from 'vitest';
import type { DigestAlgorithm } from '../../../../src/crypto/algorithms.ts';
import type { SigningMode } from '../../../../src/format/signable-file.ts';
import { jar } from '../../../../src/formats/jar/index.ts';
import { matchKey } from '../../../../src/signing/service/key-match.ts';
import { folderForAll } from '../../../support/set-up.ts';
import { signingContext } from '../../../support/signed-files/signing-context.ts';
import { chainOf } from '../../../support/signed-files/throwaway-signer.ts';
import { applyPatch } from '../support/apply-patch.ts';
import { signingIn } from '../support/change.ts';
import { readFixture } from '../support/fixtures.ts';
import { codesOf } from '../support/is-intact.ts';
import { openBytes } from '../support/sign-bytes.ts';
import { readInJava } from './interop/read-by-java.ts';
import { unzip } from './simple-zip.ts';

interface Golden {
  readonly name: string;
  readonly input: string;
  readonly algorithm: DigestAlgorithm;
  readonly bits: number;
  readonly mode: SigningMode;
  readonly signerName?: string;
  /** Base64, like the signature. */
  readonly digest: string;
  readonly signature: string;
}

const goldens: readonly Golden[] = JSON.parse(readFixture('golden/jar-signatures.json').toString());
const pem = (name: string) => readFixture(`golden/${name}.pem`).toString();
const entriesOf = (archive: Buffer) => unzip(archive).map(({ name, contents }) => [name, contents.toString('latin1')]);

const folder = folderForAll();

describe.each(goldens)('$name', ({ name, input, algorithm, bits, mode, signerName, digest, signature }) => {
  // Archives are no longer signed by SHA-1.
  it.skipIf(algorithm === 'SHA1')('always has the same bytes', async () => {
    const golden = readFixture(`golden/${name}`);
    const value = Buffer.from(signature, 'base64');
    const chain = await chainOf({ pem: pem(`leaf-${bits}`) }, { pem: pem('intermediate') });
    const bytes = readFixture(input);
    const file = await openBytes(jar, bytes);
    const prepared = await signingIn(file).prepare(signingContext({ algorithm, chain }, { signerName }), mode);
    const [unit] = prepared.units;
    expect(Buffer.from(unit.digest).toString('base64')).toBe(digest);
    expect(matchKey(chain, '1').verifies(unit, value)).toBe(true);
    const embedding = prepared.embed([unit.seal(value)]);
    const found = (await (await openBytes(jar, golden)).signatures()).map(({ envelope }) => envelope);
    expect(found).toContainEqual({ kind: 'cms', bytes: embedding.added[0].bytes });
    expect(entriesOf(applyPatch(bytes, embedding.patch))).toEqual(entriesOf(golden));
    await signingIn(await openBytes(jar, golden)).verify(embedding);
  });

  it('is intact, every signature of it', async () => {
    const file = await openBytes(jar, readFixture(`golden/${name}`));
    const all = await file.signatures();
    const weak = name.startsWith('sha1') ? ['digest-algorithm-weak'] : [];
    for (const each of all) expect(await codesOf(each)).toEqual(weak);
    expect(all.map(({ signer }) => signer.name)).toContain(`Golden RSA ${bits}`);
  });
});

it('covers each algorithm with each key size', () => {
  const plain = goldens.filter(({ input }) => input === 'jar/plain.jar');
  expect(new Set(plain.map(({ algorithm, bits }) => `${algorithm} ${bits}`)).size).toBe(12);
});

it('verifies in Java, except for SHA-1', async () => {
  const archives = goldens.map(({ name }) => readFixture(`golden/${name}`));
  const readings = await readInJava(folder, archives);
  for (const [index, { failures, unsigned, signers }] of readings.entries()) {
    const { algorithm, mode, name, bits } = goldens[index] ?? {};
    expect(failures, name).toEqual([]);
    // The release and the settings of Java determine whether it accepts SHA-1.
    if (algorithm === 'SHA1') continue;
    expect(unsigned, name).toEqual([]);
    for (const names of signers.values()) expect(names).toContain(`Golden RSA ${bits}`);
    const signatures = new Set([...signers.values()].flat());
    if (mode === 'append') expect(signatures.size, name).toBeGreaterThan(1);
  }
});
