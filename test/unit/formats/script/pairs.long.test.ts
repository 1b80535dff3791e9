/** Scripts before and after Microsoft's signtool (CODESIGN_TEST_PAIRS): our digest, our block and our verdict against theirs. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { CodesignError } from '../../../../src/errors/codesign-error.ts';
import { cmsEnvelope, type Format } from '../../../../src/formats/format.ts';
import { powershell, wsh } from '../../../../src/formats/script/index.ts';
import { scriptKindOf } from '../../../../src/formats/script/kinds.ts';
import { applyPatch } from '../support/apply-patch.ts';
import { isIntact } from '../support/is-intact.ts';
import { openBytes } from '../support/sign-bytes.ts';

const pairs = process.env.CODESIGN_TEST_PAIRS ?? '';

interface Pair {
  readonly name: string;
  readonly format: Format;
  readonly unsigned: Buffer;
  readonly signed: Buffer;
}

function findPairs(): readonly Pair[] {
  const [before, after] = ['generated-unsigned', 'generated-signed'].map((folder) =>
    path.join(pairs, folder, 'scripts'),
  );
  if (before === undefined || after === undefined) return [];
  return (readdirSync(after, { recursive: true }) as string[])
    .filter((name) => scriptKindOf(name) !== undefined && existsSync(path.join(before, name)))
    .map((name) => ({
      name,
      format: powershell.extensions.includes(path.extname(name)) ? powershell : wsh,
      unsigned: readFileSync(path.join(before, name)),
      signed: readFileSync(path.join(after, name)),
    }));
}

describe.skipIf(pairs === '')('scripts that signtool signed', () => {
  const all = pairs === '' ? [] : findPairs();

  it('are there', () => {
    expect(all.length).toBeGreaterThan(40);
  });

  it.each(all)(
    '$name is made again from the unsigned file, byte for byte',
    async ({ name, format, unsigned, signed }) => {
      const [signature] = await (await openBytes(format, signed, name)).signatures();
      expect(await isIntact(signature)).toBe(true);
      const file = await openBytes(format, unsigned, name);
      const { patch } = await file.attach(cmsEnvelope(signature?.envelope.bytes ?? Buffer.alloc(0)));
      expect(applyPatch(unsigned, patch)).toEqual(signed);
    },
  );

  it.each(all)('$name gives the unsigned file back', async ({ name, format, unsigned, signed }) => {
    const file = await openBytes(format, signed, name);
    expect(applyPatch(signed, await file.remove())).toEqual(unsigned);
  });

  it.each(all)('$name is not intact once a covered byte has changed', async ({ name, format, unsigned, signed }) => {
    // The last character before the block, in the byte that holds it in every encoding.
    const start = (await openBytes(format, unsigned, name)).layout();
    expect(start.length).toBeGreaterThan(0);
    for (const at of [Math.floor(unsigned.length / 2), unsigned.length - 1]) {
      const changed = Buffer.from(signed);
      changed[at] = (changed[at] ?? 0) ^ 0x01;
      expect(await intactOrRefused(format, changed, name)).toBe(false);
    }
  });
});

async function intactOrRefused(format: Format, bytes: Buffer, name: string): Promise<boolean> {
  try {
    const [signature] = await (await openBytes(format, bytes, name)).signatures();
    return await isIntact(signature);
  } catch (thrown) {
    if (thrown instanceof CodesignError) return false;
    throw thrown;
  }
}
