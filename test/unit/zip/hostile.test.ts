/** Archives with bytes changed at random, the same on each run: they are read or refused, and nothing else happens. */

import { describe, expect, it } from 'vitest';
import { memorySource } from '../../../src/bytes/byte-source.ts';
import { CodesignError } from '../../../src/errors/codesign-error.ts';
import { readArchive } from '../../../src/zip/archive.ts';
import { editArchive } from '../../../src/zip/edit-archive.ts';
import { digestEntries } from '../../../src/zip/entry-digests.ts';
import { storedEntry } from '../../../src/zip/new-entry.ts';
import { applyPatch } from '../formats/support/apply-patch.ts';
import { readFixture } from '../formats/support/fixtures.ts';
import { seededRandom } from './support/random.ts';

const MUTATIONS = 1000;
/** What makes parsers stumble: limits of fields, and signatures of records where others were. */
const TELLING = ['00', 'ff', 'ffff', '0000', 'ffffffff', '00000000', 'ffffff7f', '0100', '00000080', 'feffffff'];
const SIGNATURES = ['504b0102', '504b0304', '504b0506', '504b0606', '504b0607', '504b0708'];

type Random = (limit: number) => number;
const pick = <Item>(random: Random, items: readonly Item[]): Item | undefined => items[random(items.length)];

/** One to three changes; half of them among the records at the end, where the fields are that everything hangs on. */
function mutated(original: Buffer, random: Random): Buffer {
  let bytes = Buffer.from(original);
  const directory = original.indexOf('504b0102', 0, 'hex');
  for (let left = 1 + random(3); left > 0; left--) {
    const at =
      random(2) === 0 ? random(bytes.length) : Math.min(directory + random(bytes.length - directory), bytes.length);
    const kind = random(8);
    if (kind < 3) bytes[at] = (bytes[at] ?? 0) ^ (1 << random(8));
    else if (kind < 5) Buffer.from(pick(random, TELLING) ?? '', 'hex').copy(bytes, at);
    else if (kind === 5) Buffer.from(pick(random, SIGNATURES) ?? '', 'hex').copy(bytes, at);
    else if (kind === 6) bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + random(40))]);
    else bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(random(at + 1), at + random(60))]);
  }
  return bytes;
}

async function attempt(work: () => Promise<string>): Promise<string> {
  try {
    return await work();
  } catch (thrown) {
    if (thrown instanceof CodesignError) return thrown.code;
    throw thrown;
  }
}

/** Reads all that can be read, changes it, and reads that. */
function readAndChange(bytes: Buffer): Promise<string> {
  return attempt(async () => {
    const archive = await readArchive(memorySource(bytes));
    await attempt(async () => {
      await digestEntries(memorySource(bytes), archive.entries, ['sha256']);
      return 'digested';
    });
    const change = { remove: new Set(archive.entries.slice(0, 1)), first: [storedEntry('NEW', Buffer.from('new'))] };
    const result = applyPatch(bytes, editArchive(archive, change));
    const names = (await readArchive(memorySource(result))).entries.map(({ name }) => name);
    expect(names).toEqual(['NEW', ...archive.entries.slice(1).map(({ name }) => name)]);
    return 'changed';
  });
}

describe('an archive with random changes', () => {
  it.each(['jar/entry-comments.jar', 'jar/zip64.jar', 'jar/descriptors-64.jar'])(
    'is read, or refused with one of our errors: %s',
    async (name) => {
      const original = readFixture(name);
      const random = seededRandom(original.length);
      const outcomes = new Map<string, number>();
      for (let round = 0; round < MUTATIONS; round++) {
        const bytes = mutated(original, random);
        const outcome = await readAndChange(bytes).catch((thrown: unknown) => {
          throw new Error(`round ${round}: ${bytes.toString('base64')}`, { cause: thrown });
        });
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      }
      // That the changes hit something, and not everything.
      for (const outcome of ['changed', 'zip-malformed', 'zip-ambiguous'])
        expect(outcomes.get(outcome)).toBeGreaterThan(20);
      expect([...outcomes.keys()].filter((outcome) => outcome !== 'changed' && !outcome.startsWith('zip-'))).toEqual(
        [],
      );
    },
  );
});
