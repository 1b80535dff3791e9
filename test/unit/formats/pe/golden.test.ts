/** Holds signed PE files still, byte for byte, for each algorithm and key size, with recorded signatures and no key. */

import { describe, expect, it } from 'vitest';
import type { DigestAlgorithm } from '../../../../src/crypto/algorithms.ts';
import type { SigningMode } from '../../../../src/format/signable-file.ts';
import { pe } from '../../../../src/formats/pe/index.ts';
import { matchKey } from '../../../../src/signing/service/key-match.ts';
import { signingContext } from '../../../support/signed-files/signing-context.ts';
import { chainOf } from '../../../support/signed-files/throwaway-signer.ts';
import { applyPatch } from '../support/apply-patch.ts';
import { signingIn } from '../support/change.ts';
import { readFixture } from '../support/fixtures.ts';
import { openBytes } from '../support/sign-bytes.ts';

/** `digest` and `signature` are Base64; `input` is a path under fixtures/. */
interface Golden extends Readonly<Record<'name' | 'input' | 'digest' | 'signature', string>> {
  readonly algorithm: DigestAlgorithm;
  readonly bits: number;
  readonly mode: SigningMode;
  readonly description?: string;
  readonly url?: string;
}

const goldens: readonly Golden[] = JSON.parse(readFixture('golden/signatures.json').toString());
const pem = (name: string) => readFixture(`golden/${name}.pem`).toString();

describe.each(goldens)('$name', ({ name, input, algorithm, bits, mode, description, url, digest, signature }) => {
  const value = Buffer.from(signature, 'base64');
  const golden = readFixture(`golden/${name}`);

  it('always has the same bytes', async () => {
    const chain = await chainOf({ pem: pem(`leaf-${bits}`) }, { pem: pem('intermediate') });
    const bytes = readFixture(input);
    const file = await openBytes(pe, bytes);
    const prepared = await signingIn(file).prepare(signingContext({ algorithm, chain }, { description, url }), mode);
    const [unit] = prepared.units;
    expect(Buffer.from(unit.digest).toString('base64')).toBe(digest);
    expect(matchKey(chain, '1').verifies(unit, value)).toBe(true);
    const embedding = prepared.embed([unit.seal(value)]);
    expect(applyPatch(bytes, embedding.patch).equals(golden)).toBe(true);
    await signingIn(await openBytes(pe, golden)).verify(embedding);
  });
});

it('covers each algorithm with each key size', () => {
  const covered = goldens.filter(({ mode }) => mode === 'replace').map(({ algorithm, bits }) => `${algorithm} ${bits}`);
  expect(new Set(covered).size).toBe(12);
});
