/** Archives in archives, changed by chance and opened to the innermost file. */

import { gunzipSync, gzipSync } from 'node:zlib';
import { memorySource } from '../../../src/bytes/byte-source.ts';
import { createWalker } from '../../../src/containers/walk.ts';
import { makeAsar } from '../../support/containers/make-asar.ts';
import { cabOf, cabSet, makeCab } from '../../support/containers/make-cab.ts';
import { LzxWriter } from '../../support/containers/make-lzx.ts';
import { msiOf } from '../../support/containers/make-msi.ts';
import { makeTar, paxRecord } from '../../support/containers/make-tar.ts';
import { zipOf } from '../../support/containers/make-zip.ts';
import { INTEGRITY_ONLY } from '../../unit/verifying/support/integrity-only.ts';
import { require } from '../check-case.ts';
import { mutateArchive } from '../mutations/archive.ts';
import { mutateBytes } from '../mutations/bytes.ts';
import { once, pick } from '../mutations/random.ts';
import type { TargetDefinition } from '../target.ts';

const LIMITS = { depth: 8, files: 2000, inflated: 64 * 1024 * 1024 };

export const containersTarget: TargetDefinition = {
  share: 2000,
  async open({ bases }) {
    const program = bases.read('fuzz/base-stamped-nested.exe');
    const plain = bases.read('pe/hello.exe');
    const zip = zipOf({ 'app.exe': program, 'notes.txt': Buffer.from('notes') }, true);
    const tar = makeTar([
      { name: 'own', type: 'x', content: paxRecord('path', 'renamed.zip') },
      { name: 'a.zip', content: zip },
      { name: 'b.exe', content: program },
    ]);
    const asar = makeAsar({ 'lib/a.node': program, 'b.zip': zip });
    const manifest = Buffer.from('Manifest-Version: 1.0\r\n\r\n');
    const jar = zipOf({ 'META-INF/MANIFEST.MF': manifest, 'native/a.dll': program, 'in.jar': zip }, true);
    const nuget = zipOf({ 'a.nuspec': Buffer.from('<package/>'), 'lib/a.dll': program, 'tools/in.zip': zip }, true);
    const cab = cabOf({ 'a.exe': program, 'b.zip': zip }, true);
    const msi = msiOf(['a.exe', 'b.txt'], cabOf({ F0: program, F1: Buffer.from('text') }, true), {
      'Binary.dll': program,
    });
    const [first, second] = cabSet('a.exe', program, ['1.cab', '2.cab']);
    const files = zipOf({ 'in.tar': tar, 'app.asar': asar, 'a.msi': msi, '1.cab': first, '2.cab': second });
    const bundles = [Buffer.concat([plain, cab, cab]), Buffer.concat([plain, zip])];
    const lzx = {
      data: new LzxWriter(1000)
        .uncompressed(program.subarray(0, 3001))
        .block([97, 98, [1, 0, 2]], 4)
        .frame(),
      size: 3005,
    };
    const lzxCab = makeCab({ folders: [{ method: 0xf03, blocks: [lzx] }], files: [{ name: 'a.exe', size: 3005 }] });
    const whole = [lzxCab, zip, tar, asar, cab, cabOf({ 'a.exe': program }), msi, jar, nuget, ...bundles, files];
    return {
      make(random) {
        const original = pick(random, whole);
        const isZip = original.subarray(0, 2).toString() === 'PK' && once(random, 2);
        const changed = isZip ? mutateArchive(original, random, tar) : mutateBytes(original, random);
        return once(random, 3) ? gzipSync(changed) : changed;
      },
      async run(input) {
        const found = await createWalker(INTEGRITY_ONLY, LIMITS)(memorySource(input), 'case.tar.gz');
        const [outer] = found;
        require(outer !== undefined && outer.path.length === 1, 'the outer file comes first');
        const isWhole = whole.some((bytes) => bytes.equals(unpacked(input)));
        require(!isWhole || found.every(({ notOpened }) => notOpened === undefined), 'an intact archive is not opened');
        return outer.notOpened?.code ?? (found.length > 1 ? 'opened' : outer.kind);
      },
    };
  },
};

function unpacked(input: Uint8Array): Buffer {
  try {
    return gunzipSync(input, { maxOutputLength: LIMITS.inflated });
  } catch {
    return Buffer.from(input);
  }
}
