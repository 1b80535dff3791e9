/** Digesting with threads next to the main one: the same digests, the same errors, and no harm where a thread fails. */

import { createHash, randomBytes } from 'node:crypto';
import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { crc32, deflateRawSync } from 'node:zlib';
import { build } from 'esbuild';
import { beforeAll, describe, expect, it } from 'vitest';
import { fileSource } from '../../../src/bytes/file-source.ts';
import { lazy } from '../../../src/bytes/reuse.ts';
import { orUndefined } from '../../../src/errors/codesign-error.ts';
import { readArchive } from '../../../src/zip/archive.ts';
import { createDigestThreads, type DigestThreads } from '../../../src/zip/digest-threads.ts';
import { digestEntriesWith } from '../../../src/zip/entry-digests.ts';
import { digestWindow } from '../../../src/zip/entry-windows.ts';
import { folderForAll } from '../../support/set-up.ts';
import { buildZip, DEFLATED, type EntryParts, STORED } from './support/zip-builder.ts';

const MIB = 1024 * 1024;
const ALGORITHMS = ['sha256', 'sha512'];
/** Bytes of contents from which on threads help here. */
const WORTH = 3 * MIB;

const folder = folderForAll();
let program: URL;
beforeAll(async () => {
  const outfile = join(folder, 'digest-worker.mjs');
  await build({ entryPoints: ['src/zip/digest-worker.ts'], bundle: true, platform: 'node', format: 'esm', outfile });
  program = pathToFileURL(outfile);
});

/** Some windows: stored and deflated entries, an empty one, and one that is digested in pieces. */
const contents = [
  ...Array.from({ length: 8 }, () => randomBytes(MIB - 10_000)),
  Buffer.alloc(0),
  randomBytes(2 * MIB),
  ...Array.from({ length: 8 }, (_, index) => Buffer.concat([randomBytes(20_000), Buffer.alloc(20_000, index)])),
];
const expected = contents.map((each) => ALGORITHMS.map((name) => createHash(name).update(each).digest('base64')));

const intact = contents.map((each, index): EntryParts & { readonly crc: number } => {
  const method = each.length < MIB / 2 ? DEFLATED : STORED;
  const data = method === DEFLATED ? deflateRawSync(each) : each;
  return { name: `entry-${index}`, method, data, size: each.length, crc: crc32(each) };
});

/** Writes an archive in which these entries have a wrong CRC-32, and returns its path. */
async function archiveWith(wrong: readonly number[] = []): Promise<string> {
  const path = join(folder, `${wrong.join()}.zip`);
  const entries = intact.map((entry, index) => ({ ...entry, crc: entry.crc ^ (wrong.includes(index) ? 1 : 0) }));
  await writeFile(path, buildZip({ entries }));
  return path;
}
const whole = lazy(archiveWith);

async function digestsOf(path: string, threads: DigestThreads): Promise<string[][]> {
  await using handle = await open(path);
  const source = fileSource(handle, (await handle.stat()).size);
  const { entries } = await readArchive(source);
  const digests = await digestEntriesWith(threads, WORTH)(source, entries, ALGORITHMS);
  return entries.map((_, position) => ALGORITHMS.map((name) => digests.base64(position, name)));
}

/** Digests archives until a thread takes a window: on a slow machine, threads come too late for the first one. */
async function digestWithThreads({ start, offer }: DigestThreads): Promise<void> {
  let taken = 0;
  const counting: DigestThreads = {
    start,
    offer(window) {
      const outcome = offer(window);
      if (outcome !== undefined) taken += 1;
      return outcome;
    },
  };
  for (let tries = 0; taken === 0 && tries < 100; tries++) {
    start();
    await sleep(20);
    expect(await digestsOf(await whole(), counting)).toEqual(expected);
  }
  expect(taken).toBeGreaterThan(0);
}

it('threads give the digests of the contents', () => digestWithThreads(createDigestThreads(program, 2)));

describe('the first damaged entry is reported', () => {
  /** Takes every window whose number is in `theirs`, late, as a thread would. */
  function takes(theirs: (window: number) => boolean): DigestThreads {
    let count = 0;
    return {
      start: () => undefined,
      offer({ bytes, entries, algorithms }) {
        count += 1;
        if (!theirs(count - 1)) return undefined;
        const digests = orUndefined(() => digestWindow(Buffer.from(bytes), entries, algorithms));
        return sleep(20, { bytes, digests });
      },
    };
  }

  it.each<[string, (window: number) => boolean]>([
    ['another thread meets it', (window) => window % 2 === 0],
    ['this thread meets it', (window) => window % 2 === 1],
  ])('where %s', async (_, theirs) => {
    const rejection = expect(digestsOf(await archiveWith([3, 4, 5, 6]), takes(theirs))).rejects;
    await rejection.toMatchObject({ code: 'zip-entry-damaged', message: expect.stringMatching(/entry-3\b/) });
  });
});

describe('if a thread fails, this one does its work', () => {
  async function programOf(code: string): Promise<URL> {
    const path = join(folder, `${randomBytes(8).toString('hex')}.mjs`);
    await writeFile(path, `import { parentPort } from 'node:worker_threads'; parentPort.on('message', () => ${code});`);
    return pathToFileURL(path);
  }

  it('and it dies over a window', async () => {
    await digestWithThreads(createDigestThreads(await programOf('process.exit(1)'), 1));
  });

  it('and it throws, or its program is missing', async () => {
    for (const each of [await programOf('nothing()'), new URL('gone.mjs', program)]) {
      const threads = createDigestThreads(each, 1);
      expect(await digestsOf(await whole(), threads)).toEqual(expected);
      await sleep(100);
      expect(await digestsOf(await whole(), threads)).toEqual(expected);
    }
  });
});
