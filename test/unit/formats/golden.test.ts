/**
 * Holds signed PE files and JARs still, for each algorithm and key size, with recorded signatures and no key. The compressed
 * bytes of a JAR's manifest and signature file are left out, because another zlib may compress them otherwise.
 */

import { describe, expect, it } from 'vitest';
import type { DigestAlgorithm } from '../../../src/crypto/algorithms.ts';
import type { SigningMode } from '../../../src/format/signable-file.ts';
import { jar } from '../../../src/formats/jar/index.ts';
import { pe } from '../../../src/formats/pe/index.ts';
import { matchKey } from '../../../src/signing/service/key-match.ts';
import { signingContext } from '../../support/signed-files/signing-context.ts';
import { chainOf } from '../../support/signed-files/throwaway-signer.ts';
import { unzip } from './jar/simple-zip.ts';
import { applyPatch } from './support/apply-patch.ts';
import { signingIn } from './support/change.ts';
import { readFixture } from './support/fixtures.ts';
import { openBytes } from './support/sign-bytes.ts';

/** `digest` and `signature` are Base64; `input` is a path under fixtures/. */
interface Golden extends Readonly<Record<'name' | 'input' | 'digest' | 'signature', string>> {
  readonly algorithm: DigestAlgorithm;
  readonly bits: number;
  readonly mode: SigningMode;
  readonly description?: string;
  readonly url?: string;
  readonly signerName?: string;
}

const pem = (name: string) => readFixture(`golden/${name}.pem`).toString();
const entriesOf = (archive: Buffer) => unzip(archive).map(({ name, contents }) => [name, contents.toString('latin1')]);

describe.each([
  { format: pe, table: 'signatures', count: 12, comparable: (bytes: Buffer) => bytes.toString('latin1') },
  // Archives are no longer signed by SHA-1.
  { format: jar, table: 'jar-signatures', count: 9, comparable: entriesOf },
])('signed files of the format $format.id', ({ format, table, count, comparable }) => {
  const all: readonly Golden[] = JSON.parse(readFixture(`golden/${table}.json`).toString());
  const goldens = format === jar ? all.filter(({ algorithm }) => algorithm !== 'SHA1') : all;

  it.each(goldens)('always have the same bytes: $name', async (golden) => {
    const { name, input, algorithm, bits, mode, description, url, signerName, digest, signature } = golden;
    const value = Buffer.from(signature, 'base64');
    const chain = await chainOf({ pem: pem(`leaf-${bits}`) }, { pem: pem('intermediate') });
    const bytes = readFixture(input);
    const context = signingContext({ algorithm, chain }, { description, url, signerName });
    const prepared = await signingIn(await openBytes(format, bytes)).prepare(context, mode);
    const [unit] = prepared.units;
    expect(Buffer.from(unit.digest).toString('base64')).toBe(digest);
    expect(matchKey(chain, '1').verifies(unit, value)).toBe(true);
    const embedding = prepared.embed([unit.seal(value)]);
    const expected = readFixture(`golden/${name}`);
    expect(comparable(applyPatch(bytes, embedding.patch))).toEqual(comparable(expected));
    await signingIn(await openBytes(format, expected)).verify(embedding);
  });

  it('have each algorithm with each key size', () => {
    expect(new Set(goldens.map(({ algorithm, bits }) => `${algorithm} ${bits}`)).size).toBe(count);
  });
});
