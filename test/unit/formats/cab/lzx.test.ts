import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { decoderFor } from '../../../../src/cabinet/decoders.ts';
import { type CabBlock, makeCab } from '../../../support/containers/make-cab.ts';
import { LzxWriter, type Token } from '../../../support/containers/make-lzx.ts';
import { folderForAll } from '../../../support/set-up.ts';

const folder = folderForAll();
const METHOD = 3 | (15 << 8);
const letters = (text: string): readonly number[] => [...Buffer.from(text)];

function unpack(blocks: readonly CabBlock[], method = METHOD): string {
  const decoder = decoderFor(method);
  return Buffer.concat(
    blocks.map(({ data, size }) => decoder?.decode(Buffer.from(data), size) ?? Buffer.alloc(0)),
  ).toString('latin1');
}

const ALPHABET = letters('abcdefghijklmnopqrstuvwxyz');
/** Offsets 14 + extra in slot 8 (3 bits), and 30 + extra in slot 10 (4 bits). */
const TOKENS: readonly Token[] = [
  ...ALPHABET,
  [8, 5, 9],
  [0, 0, 2],
  [3, 0, 2],
  [1, 0, 2],
  [10, 2, 10],
  [2, 0, 2],
  [1, 0, 2],
];
const UNPACKED_SIZE = 26 + 9 + 2 + 2 + 2 + 10 + 2 + 2;
const ALL_TYPES = new LzxWriter()
  .block(ALPHABET, 26)
  .uncompressed(Buffer.from('odd'), [3, 2, 1])
  .block(
    [0, 1, 2].map((slot): Token => [slot, 0, 2]),
    6,
  )
  .block(TOKENS, UNPACKED_SIZE, true)
  .frame();
const CALLS = Buffer.from(
  `\xe8\x10\0\0\0\x90\xe8\xff\xff\xff\xff\x90\xe8\0\0\x10\0${'.'.repeat(43)}\xe8\x01\0\0\0`,
  'latin1',
);
const filled = (size: number) => ({ data: new LzxWriter().uncompressed(Buffer.alloc(size, 'text')).frame(), size });

const writer = new LzxWriter(5000);
const FRAME = { data: writer.uncompressed(Buffer.alloc(32_768, CALLS)).frame(), size: 32_768 };
const NEXT_FRAME = { data: writer.block(TOKENS, UNPACKED_SIZE).frame(), size: UNPACKED_SIZE };

const DATA: Readonly<Record<string, readonly CabBlock[]>> = {
  'verbatim blocks': [{ data: new LzxWriter().block(TOKENS, UNPACKED_SIZE).frame(), size: UNPACKED_SIZE }],
  'aligned blocks': [{ data: new LzxWriter().block(TOKENS, UNPACKED_SIZE, true).frame(), size: UNPACKED_SIZE }],
  'an uncompressed block': [filled(10)],
  'a whole frame': [filled(32_768)],
  'blocks of all types, with lengths that differ from those before': [{ data: ALL_TYPES, size: 35 + UNPACKED_SIZE }],
  'translated calls': [{ data: new LzxWriter(1000).uncompressed(CALLS).frame(), size: CALLS.length }],
  'a block that continues in the next frame, across the end of the window': [FRAME, NEXT_FRAME],
};

it('LZX data is unpacked as cabextract does', async () => {
  const all = Object.values(DATA);
  const files = all.map((blocks, folder) => {
    return { name: `${folder}`, folder, size: blocks.reduce((sum, { size }) => sum + size, 0) };
  });
  await writeFile(`${folder}/a.cab`, makeCab({ folders: all.map((blocks) => ({ method: METHOD, blocks })), files }));
  execFileSync('cabextract', ['-q', '-d', folder, `${folder}/a.cab`]);
  for (const [index, [what, blocks]] of Object.entries(DATA).entries())
    expect(unpack(blocks), what).toBe(await readFile(`${folder}/${index}`, 'latin1'));
});

it('continues from a copy', () => {
  const writer = new LzxWriter();
  const first = writer.uncompressed(Buffer.alloc(32_768, 'text')).frame();
  const second = writer.block([[0, 0, 2]], 2).frame();
  const decoder = decoderFor(METHOD);
  decoder?.decode(first, 32_768);
  const copy = decoder?.copy();
  expect(decoder?.decode(second, 2).toString()).toBe('tt');
  expect(copy?.decode(second, 2).toString()).toBe('tt');
});

const addBlock = (writer: LzxWriter) => writer.block([97], 1);
const frame = (tokens: readonly Token[], size: number) => new LzxWriter().block(tokens, size).frame();

it.each([
  ['no data', Buffer.alloc(0), 10, 'unknown type'],
  ['data that is cut off', frame(ALPHABET, 26).subarray(0, 100), 26, 'too early'],
  ['a match before the start', frame([[8, 0, 9]], 9), 9, 'before the start'],
  ['a match beyond the frame', frame([97, 97, [0, 0, 2]], 4), 3, 'too long'],
  ['a match beyond its block', frame([97, 97, [0, 0, 2]], 3), 4, 'too long'],
  ['an uncompressed block that is cut off', filled(10).data.subarray(0, 20), 10, 'cut off'],
  ['offsets that are cut off', filled(10).data.subarray(0, 8), 10, 'cut off'],
  ['too many blocks', Array.from({ length: 200 }).reduce(addBlock, new LzxWriter()).frame(), 200, 'too many blocks'],
  ['random bits', Buffer.alloc(1000, 0x5a), 1000, ''],
])('rejects %s', (_what, data, size, problem) => {
  const message = expect.stringContaining(problem);
  expect(() => unpack([{ data, size }])).toThrow(expect.objectContaining({ code: 'file-malformed', message }));
});

it('rejects windows of unknown sizes', () => {
  for (const bits of [14, 22]) {
    expect(() => unpack([], 3 | (bits << 8))).toThrow(expect.objectContaining({ code: 'file-malformed' }));
  }
});
