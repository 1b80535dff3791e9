/** Every signed PE of the corpus (CODESIGN_TEST_CORPUS), taken apart and put together again. `verdicts.long.test.ts` examines them. */

import path from 'node:path';
import { expect, it } from 'vitest';
import { withNested } from '../../../../src/format/signature.ts';
import { pe } from '../../../../src/formats/pe/index.ts';
import { applyPatch } from '../support/apply-patch.ts';
import { placeIn, removalOf, signingIn } from '../support/change.ts';
import { isIntact } from '../support/is-intact.ts';
import { openBytes } from '../support/sign-bytes.ts';
import { filesBelow } from '../support/signed-copies.ts';

const corpus = process.env.CODESIGN_TEST_CORPUS ?? '';

it.skipIf(corpus === '')(
  'the corpus loses its signatures, and is intact once they are attached again',
  async () => {
    const programs = ['pe', 'pe-special'].flatMap((name) => filesBelow(path.join(corpus, name), () => true));
    let count = 0;
    for (const { name, bytes } of programs) {
      const opened = await openBytes(pe, bytes).catch(() => undefined);
      const [signature] = (await opened?.signatures()) ?? [];
      if (opened === undefined || !(await isIntact(signature))) continue;
      const removed = applyPatch(bytes, await removalOf(opened));
      const unsigned = await openBytes(pe, removed);
      expect(await unsigned.signatures()).toEqual([]);
      const attached = await placeIn(unsigned, signature?.envelope ?? expect.unreachable());
      const again = await openBytes(pe, applyPatch(removed, attached.patch));
      await signingIn(again).verify(attached);
      for (const each of withNested(await again.signatures()))
        expect([name, await isIntact(each)]).toEqual([name, true]);
      count += 1;
    }
    expect(count).toBeGreaterThan(25);
  },
  120_000,
);
