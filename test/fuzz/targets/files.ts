/** Programs and archives, changed by chance. */

import { memorySource } from '../../../src/bytes/byte-source.ts';
import { jar } from '../../../src/formats/jar/index.ts';
import { pe } from '../../../src/formats/pe/index.ts';
import { readArchive, type ZipArchive } from '../../../src/zip/archive.ts';
import type { ZipEntry } from '../../../src/zip/directory.ts';
import { headerOffsets } from '../../unit/formats/pe/slow-pe.ts';
import { require } from '../check-case.ts';
import { mutateArchive } from '../mutations/archive.ts';
import { mutatePe } from '../mutations/pe.ts';
import { once, pick } from '../mutations/random.ts';
import type { TargetDefinition } from '../target.ts';
import { prepareWalk, walkFile } from './walk.ts';

export const peTarget: TargetDefinition = {
  share: 6000,
  async open(setting) {
    const bases = setting.bases.all(
      ['pe', 'golden', 'pe-malformed', 'fuzz'],
      ['.exe', '.dll', '.sys', '.efi'],
      ['pe', 'pe-special'],
    );
    const walk = await prepareWalk(setting, 'fuzz/base-stamped.exe', {
      format: pe,
      requireUntouched: requireProgramUntouched,
      sample: (bytes) => setting.sample('.exe', bytes),
    });
    return {
      make: (random) => {
        let bytes = mutatePe(pick(random, bases), random, pick(random, bases));
        if (once(random, 4)) bytes = mutatePe(bytes, random, pick(random, bases));
        return bytes;
      },
      run: (input) => walkFile(walk, input),
    };
  },
};

export const jarTarget: TargetDefinition = {
  share: 6000,
  async open(setting) {
    const bases = setting.bases.all(
      ['jar', 'golden', 'jar-malformed', 'jar-damaged', 'fuzz'],
      ['.jar', '.war', '.aar'],
      ['jar', 'jar-special'],
    );
    const walk = await prepareWalk(setting, 'fuzz/base-stamped.jar', {
      format: jar,
      requireUntouched: requireEntriesUntouched,
      sample: (bytes) => setting.sample('.jar', bytes),
    });
    return {
      make: (random) => mutateArchive(pick(random, bases), random, pick(random, bases)),
      run: (input) => walkFile(walk, input),
    };
  },
};

/** All but CheckSum, the entry of the certificate table, and what is from that table on. */
async function requireProgramUntouched(before: Uint8Array, after: Uint8Array): Promise<void> {
  const [one, other] = [withoutFields(before), withoutFields(after)];
  const end = Math.min(one.end, other.end, one.bytes.length);
  require(one.bytes
    .subarray(0, end)
    .equals(other.bytes.subarray(0, end)), 'the program was changed, not its signature alone');
}

function withoutFields(program: Uint8Array): { readonly bytes: Buffer; readonly end: number } {
  const bytes = Buffer.from(program);
  const { checksum, entry } = headerOffsets(bytes);
  const table = bytes.readUInt32LE(entry);
  bytes.fill(0, checksum, checksum + 4).fill(0, entry, entry + 8);
  // Of an entry that leads nowhere nothing is to be held back.
  return { bytes, end: table === 0 ? bytes.length : table };
}

const SIGNATURE_FILES = /^META-INF\/(MANIFEST\.MF|[^/]*\.(SF|RSA|DSA|EC)|SIG-[^/]*)$/i;

/** The data of every entry that is none of a signature's, as they are packed. */
async function requireEntriesUntouched(before: Uint8Array, after: Uint8Array): Promise<void> {
  const [one, other] = [await readArchive(memorySource(before)), await readArchive(memorySource(after))];
  for (const entry of one.entries) {
    if (SIGNATURE_FILES.test(entry.name)) continue;
    const same = other.byName.get(entry.name);
    require(same !== undefined, 'an entry is gone');
    require(dataOf(before, entry).equals(dataOf(after, same)), 'the data of an entry were changed');
    require(metadataOf(one, entry).equals(metadataOf(other, same)), 'the record of an entry was changed');
  }
}

function dataOf(archive: Uint8Array, { dataOffset, compressedSize }: ZipEntry): Buffer {
  return Buffer.from(archive.subarray(dataOffset, dataOffset + compressedSize));
}

/** Its record in the directory up to the name, without the offset, which may move. */
function metadataOf({ directory }: ZipArchive, { recordStart }: Pick<ZipEntry, 'recordStart'>): Buffer {
  return directory.subarray(recordStart + 6, recordStart + 32);
}
