/** Files before and after Microsoft's signtool (CODESIGN_TEST_PAIRS): our digest, our edits and our verdict against theirs. */

import { existsSync, readFileSync } from 'node:fs';
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
import { recogniseFormat } from '../../../src/formats/recognise.ts';
import { formats } from '../../../src/formats/registry.ts';
import { flipped } from '../../support/flipped.ts';
import { applyPatch } from './support/apply-patch.ts';
import { placeIn, removalOf } from './support/change.ts';
import { filesBelow } from './support/fixtures.ts';
import { isAccepted, isIntact } from './support/is-intact.ts';
import { openBytes, plainReader } from './support/sign-bytes.ts';

const pairs = process.env.CODESIGN_TEST_PAIRS ?? '';

interface Folder {
  readonly count: number;
  /** Bytes of a signed file that its signature covers. */
  covered(unsigned: Buffer, signed: Buffer): number[];
  /** What is left at its end when the signature is removed. */
  readonly left?: Buffer;
}

const RDP_NAMES = ['full address', 'server port', 'prompt for', 'Alternate', 'SignScope', ',GatewayHostname'];

const FOLDERS: Readonly<Record<string, Folder>> = {
  scripts: { count: 70, covered: (unsigned) => [Math.floor(unsigned.length / 2), unsigned.length - 1] },
  cab: { count: 1, covered: (_unsigned, signed) => [32, 60, signed.readUInt32LE(8) - 1] },
  // The content, up to its end, and the signature; the certificates are checked by the trust in them.
  catalog: {
    count: 1,
    covered: (_unsigned, signed) => [70, 600, signed.indexOf('root', 'utf16le'), signed.length - 9],
  },
  rdp: {
    count: 1,
    covered: (_unsigned, signed) =>
      RDP_NAMES.flatMap((name) => [0, 2, 8].map((more) => signed.indexOf(name, 'utf16le') + more)),
    left: Buffer.from('Alternate Full Address:s:server.example.test\r\n', 'utf16le'),
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
  const both =
    kind === 'rdp'
      ? [['unsigned-utf16le-bom.rdp', 'signed-test-cert.rdp'].map((name) => path.join(pairs, kind, name))]
      : filesBelow(after, () => true)
          .map(({ name }) => [path.join(before, path.relative(after, name)), name])
          .filter(([unsigned = '']) => existsSync(unsigned));
  return Promise.all(
    both.map(async ([unsigned = '', signed = '']) => {
      const bytes = readFileSync(unsigned);
      const format = await recogniseFormat(memorySource(bytes), [signed], { formats });
      return { name: path.basename(signed), format, unsigned: bytes, signed: readFileSync(signed) };
    }),
  );
}

describe.skipIf(pairs === '').each(Object.entries(FOLDERS))(
  '%s that Microsoft signed',
  async (folder, { count, covered, left = Buffer.of() }) => {
    const all = pairs === '' ? [] : await findPairs(folder);

    it('exist', () => {
      expect(all).toHaveLength(count);
    });

    it.each(all)(
      '$name is made again from the unsigned file, byte for byte, and gives it back',
      async ({ name, format, unsigned, signed }) => {
        const signedFile = await openBytes(format, signed, name);
        const [signature] = await signedFile.signatures();
        expect(await isIntact(signature)).toBe(true);
        const file = await openBytes(format, unsigned, name);
        const { patch } = await placeIn(file, cmsEnvelope(signature?.envelope.bytes ?? Buffer.alloc(0)));
        expect(applyPatch(unsigned, patch)).toEqual(signed);
        expect(applyPatch(signed, await removalOf(signedFile))).toEqual(Buffer.concat([unsigned, left]));
      },
    );

    it.each(all)('$name is not intact once a covered byte has changed', async ({ name, format, unsigned, signed }) => {
      for (const at of covered(unsigned, signed)) {
        expect([at, await isAccepted(format, flipped(signed, at), name)]).toEqual([at, false]);
      }
    });
  },
);

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
