/** A patch with many ranges, as for a fragmented installer. */

import { createHash } from 'node:crypto';
import { open, readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { lazyPieces } from '../../../../src/bytes/pieces.ts';
import { openInput } from '../../../../src/files/input-file.ts';
import { stageCopy } from '../../../../src/signing/files/staged-copy.ts';
import { digestEntries } from '../../../../src/zip/entry-digests.ts';
import { folderForAll } from '../../../support/set-up.ts';

const SECTOR = 512;
const COUNT = 200_000;
const MIB = 2 ** 20;

const folder = folderForAll();

it('digests and rewrites a file of 200,000 scattered sectors in bounded memory', async () => {
  const target = path.join(folder, 'scattered.bin');
  const original = Buffer.alloc(COUNT * SECTOR);
  for (let index = 0; index < COUNT; index++) original.writeUInt32LE(index, index * SECTOR);
  const handle = await open(target, 'w');
  await handle.write(original);
  await handle.close();
  const sectors = (tail: string) =>
    lazyPieces(function* () {
      for (let index = COUNT - 1; index >= 0; index--) {
        const at = index % 2 === 0 ? index : COUNT - index;
        yield { start: at * SECTOR, end: (at + 1) * SECTOR };
      }
      yield Buffer.from(tail);
    });
  const expected = Buffer.concat([
    ...[...sectors('SEAL')].map((piece) =>
      'start' in piece ? original.subarray(piece.start, piece.end) : Buffer.from(piece),
    ),
  ]);

  const before = process.memoryUsage.rss();
  await using input = await openInput(target);
  await using copy = await stageCopy({
    ...{ source: input.source, stats: input.stats, target, randomName: () => 'x' },
    ...{ digestEntries, temporaryFiles: new Set<string>(), onEvent: () => undefined },
  });
  const { digests } = await copy.reader.measure(input.source, sectors('SEAL'), ['SHA256']);
  expect(digests.get('SHA256')).toEqual(createHash('sha256').update(expected).digest());
  for (const tail of ['....', 'SEAL']) {
    await copy.apply([{ offset: 0, remove: original.length, insert: sectors(tail) }]);
    await copy.flush();
  }
  await copy.flush();
  expect(process.memoryUsage.rss() - before).toBeLessThan(160 * MIB);
  await copy.replaceTarget({ isNew: false, assertUnchanged: () => undefined });
  expect((await readFile(target)).equals(expected)).toBe(true);
}, 300_000);
