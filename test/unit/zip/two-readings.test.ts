/** Archives of which Java reads the outer one and others a stored one inside, or the other way round: they must be refused. */

import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { namesOrCode, refusal } from './support/reading.ts';
import { type ArchiveParts, buildZip, extraField, localRecord, stored } from './support/zip-builder.ts';

const INNER = buildZip({ entries: [stored('inner.txt')] });
const LAUNCHER = '#!/bin/sh\nexec java -jar "$0"\n';
const outer = (about: Partial<ArchiveParts>): Buffer =>
  buildZip({ entries: [stored('a.txt'), stored('inner.jar', { contents: INNER })], ...about });
/** Without anything before it, its first record is seen to be one that the inner archive does not name. */
const behindLauncher = (about: Partial<ArchiveParts>): Buffer => outer({ preamble: LAUNCHER, ...about });

/** The archive with another value in its ZIP64 end record. */
function withZip64(at: number, value: number, end: NonNullable<ArchiveParts['end']> = {}): Buffer {
  const bytes = behindLauncher({ zip64: true, end });
  bytes.writeUInt32LE(value, bytes.lastIndexOf('PK\x06\x06', undefined, 'latin1') + at);
  return bytes;
}

it.each<[string, Buffer]>([
  ['counts other entries for this disk', behindLauncher({ end: { diskCount: 127 } })],
  ['is on another disk', behindLauncher({ end: { disk: 1 } })],
  ['says a directory of one byte', behindLauncher({ end: { directorySize: 1 } })],
  ['says a directory that begins elsewhere', behindLauncher({ end: { directorySize: 50 } })],
  ['differs from its ZIP64 end record', withZip64(32, 7, { count: 2, diskCount: 2 })],
  ['has a locator that leads nowhere', withZip64(0, 0, { count: 2, diskCount: 2 })],
  // With bytes after it, Java checks its first entry and the directory.
  ['has ZIP64 in the place of the directory', outer({ zip64: true, trailing: '\n\n' })],
  ['counts a preamble', behindLauncher({ trailing: '\n\n' })],
  ['counts something else before the first record', outer({ preamble: Buffer.alloc(5), trailing: '\n\n' })],
])('an end record is not passed over for one of an archive inside, where it %s', async (_, bytes) => {
  expect(await refusal(bytes)).not.toBe('accepted');
});

it('an end record with bytes after it is taken where Java finds what it leads to', async () => {
  for (const about of [{ preamble: LAUNCHER, offsets: 'archive' }, {}] as const)
    expect(await namesOrCode(outer({ ...about, trailing: '\n\n' }))).toEqual(['a.txt', 'inner.jar']);
});

describe('an entry that the directory does not name', () => {
  const hidden = localRecord(stored('hidden.txt'));
  const behind = (start: string | Buffer) => buildZip({ entries: [stored('a.txt')], preamble: start });

  it('is rejected where the file begins', async () => {
    expect(await refusal(behind(hidden))).toMatch(/^zip-ambiguous.*byte 0/);
  });

  it('is rejected where the archive begins once what was put before it is cut off', async () => {
    const launched = Buffer.concat([Buffer.from(LAUNCHER), behind(hidden)]);
    expect(await refusal(launched)).toMatch(new RegExp(`^zip-ambiguous.*byte ${LAUNCHER.length} `));
    const harmless = Buffer.concat([Buffer.from(LAUNCHER), behind('PK, but no entry')]);
    expect(await namesOrCode(harmless)).toEqual(['a.txt']);
  });
});

describe('a second name of an entry, in a Unicode Path field', () => {
  const field = (name: string, { ofName = 'a.txt', version = 1 } = {}): Buffer => {
    const head = Buffer.alloc(5);
    head.writeUInt8(version);
    head.writeUInt32LE(crc32(ofName), 1);
    return extraField(0x7075, Buffer.concat([head, Buffer.from(name)]));
  };
  const withExtra = (extra: { local?: Buffer; central?: Buffer }) =>
    buildZip({ entries: [stored('a.txt', { extra })] });

  it.each(['local', 'central'] as const)('is rejected in the %s record where it is another', async (record) => {
    const problem = /^zip-ambiguous.*two names, a\.txt and b\.txt/;
    expect(await refusal(withExtra({ [record]: field('b.txt') }))).toMatch(problem);
    const behindOthers = Buffer.concat([extraField(0xcafe, ''), field('a.txt'), field('b.txt')]);
    expect(await refusal(withExtra({ [record]: behindOthers }))).toMatch(problem);
  });

  it.each([
    ['is the same', field('a.txt')],
    ['is of another name that the entry once had', field('b.txt', { ofName: 'c.txt' })],
    ['is of an unknown version', field('b.txt', { version: 2 })],
    ['is too short to be one', extraField(0x7075, 'a')],
  ])('is none where it %s', async (_, extra) => {
    expect(await namesOrCode(withExtra({ local: extra, central: extra }))).toEqual(['a.txt']);
  });
});
