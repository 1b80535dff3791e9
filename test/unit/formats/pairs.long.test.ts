/** Files before and after Microsoft's signtool (CODESIGN_TEST_PAIRS): our digest, our edits and our verdict against theirs. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parts } from '../../../src/asn1/read.ts';
import { utf16be } from '../../../src/asn1/write.ts';
import { memorySource } from '../../../src/bytes/byte-source.ts';
import type { Format } from '../../../src/format/format.ts';
import { cmsEnvelope } from '../../../src/format/signature.ts';
import { newCatalog } from '../../../src/formats/cat/create.ts';
import { readCatalog } from '../../../src/formats/cat/list.ts';
import { listedFile } from '../../../src/formats/catalogs.ts';
import { rdp } from '../../../src/formats/rdp/index.ts';
import { recogniseFormat } from '../../../src/formats/recognise.ts';
import { formats } from '../../../src/formats/registry.ts';
import { flipped } from '../../support/flipped.ts';
import { applyPatch } from './support/apply-patch.ts';
import { placeIn, removalOf } from './support/change.ts';
import { isAccepted, isIntact } from './support/is-intact.ts';
import { openBytes, plainReader } from './support/sign-bytes.ts';

const pairs = process.env.CODESIGN_TEST_PAIRS ?? '';

/** The pairs of each folder: how many there are, and bytes of a signed file that its signature covers. */
const FOLDERS: Readonly<Record<string, { count: number; covered: (unsigned: Buffer, signed: Buffer) => number[] }>> = {
  scripts: { count: 70, covered: (unsigned) => [Math.floor(unsigned.length / 2), unsigned.length - 1] },
  cab: { count: 1, covered: (_unsigned, signed) => [32, 60, signed.readUInt32LE(8) - 1] },
  // The content, up to its end, and the signature; the certificates are checked by the trust in them.
  catalog: {
    count: 1,
    covered: (_unsigned, signed) => [70, 600, signed.indexOf('root', 'utf16le'), signed.length - 9],
  },
};

interface Pair {
  readonly name: string;
  readonly format: Format;
  readonly unsigned: Buffer;
  readonly signed: Buffer;
}

async function findPairs(kind: string): Promise<readonly Pair[]> {
  const before = path.join(pairs, 'generated-unsigned', kind);
  const after = path.join(pairs, 'generated-signed', kind);
  const names = readdirSync(after, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(after, path.join(entry.parentPath, entry.name)))
    .filter((name) => existsSync(path.join(before, name)));
  return Promise.all(
    names.map(async (name) => {
      const [unsigned, signed] = [before, after].map((folder) => readFileSync(path.join(folder, name)));
      if (unsigned === undefined || signed === undefined) throw new Error(`${name} cannot be read`);
      return { name, format: await recogniseFormat(memorySource(unsigned), [name], { formats }), unsigned, signed };
    }),
  );
}

describe.skipIf(pairs === '').each(Object.entries(FOLDERS))(
  '%s that signtool signed',
  async (folder, { count, covered }) => {
    const all = pairs === '' ? [] : await findPairs(folder);

    it('exist', () => {
      expect(all).toHaveLength(count);
    });

    it.each(all)(
      '$name is made again from the unsigned file, byte for byte',
      async ({ name, format, unsigned, signed }) => {
        const [signature] = await (await openBytes(format, signed, name)).signatures();
        expect(await isIntact(signature)).toBe(true);
        const file = await openBytes(format, unsigned, name);
        const { patch } = await placeIn(file, cmsEnvelope(signature?.envelope.bytes ?? Buffer.alloc(0)));
        expect(applyPatch(unsigned, patch)).toEqual(signed);
      },
    );

    it.each(all)('$name gives the unsigned file back', async ({ name, format, unsigned, signed }) => {
      const file = await openBytes(format, signed, name);
      expect(applyPatch(signed, await removalOf(file))).toEqual(unsigned);
    });

    it.each(all)('$name is not intact once a covered byte has changed', async ({ name, format, unsigned, signed }) => {
      for (const at of covered(unsigned, signed)) {
        expect(await isAccepted(format, flipped(signed, at), name)).toBe(false);
      }
    });
  },
);

describe.skipIf(pairs === '')('the connection file that rdpsign signed', () => {
  const [unsigned = Buffer.alloc(0), signed = Buffer.alloc(0)] = ['unsigned-utf16le-bom', 'signed-test-cert'].map(
    (name) => (pairs === '' ? undefined : readFileSync(path.join(pairs, 'rdp', `${name}.rdp`))),
  );
  const alternate = Buffer.from('Alternate Full Address:s:server.example.test\r\n', 'utf16le');

  it('is made again from the unsigned one, byte for byte, and gives it back', async () => {
    const file = await openBytes(rdp, signed);
    const [signature] = await file.signatures();
    expect(await isIntact(signature)).toBe(true);
    const envelope = cmsEnvelope(signature?.envelope.bytes ?? Buffer.alloc(0));
    const { patch } = await placeIn(await openBytes(rdp, unsigned), envelope);
    expect(applyPatch(unsigned, patch)).toEqual(signed);
    expect(applyPatch(signed, await removalOf(file))).toEqual(Buffer.concat([unsigned, alternate]));
  });

  it('is not intact once a covered byte has changed', async () => {
    const text = signed.toString('utf16le');
    for (const name of ['full address', 'server port', 'prompt for', 'Alternate', 'SignScope', ',GatewayHostname']) {
      for (const at of [0, 1, 4].map((more) => (text.indexOf(name) + more) * 2)) {
        expect([at, await isAccepted(rdp, flipped(signed, at))]).toEqual([at, false]);
      }
    }
  });
});

it.skipIf(pairs === '')(
  'a new catalog has the members that inf2cat writes, without its attributes for drivers',
  async () => {
    const folder = path.join(pairs, 'generated-unsigned');
    const program = readFileSync(path.join(folder, 'pe', 'tiny64-pe-alias.sys'));
    const listed = await Promise.all(
      [
        { name: 'sample.inf', bytes: readFileSync(path.join(folder, 'catalog', 'sample.inf')) },
        { name: 'member.sys', bytes: program },
      ].map(({ name, bytes }) => listedFile(memorySource(bytes), plainReader(), name)),
    );
    const theirs = membersOf(readFileSync(path.join(folder, 'catalog', 'sample.cat')));
    expect(membersOf(newCatalog(listed, new Date()))).toEqual(theirs);
    expect(theirs).toHaveLength(4);
  },
);

/** Each with its tag and its attributes in hex. */
function membersOf(catalog: Uint8Array): readonly (readonly string[])[] {
  const fields = parts(readCatalog(catalog).list, 'list');
  const hexOf = ({ bytes }: { readonly bytes: Uint8Array }) => Buffer.from(bytes).toString('hex');
  const ofDrivers = Buffer.from(utf16be('OSAttr')).toString('hex');
  return parts(fields[4] ?? expect.fail('the list has no members'), 'members').map((member) => {
    const [tag, attributes] = parts(member, 'member');
    if (tag === undefined || attributes === undefined) return expect.fail('a member has no attributes');
    return [
      hexOf(tag),
      ...parts(attributes, 'attributes')
        .map(hexOf)
        .filter((each) => !each.includes(ofDrivers)),
    ];
  });
}
