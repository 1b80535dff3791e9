/** Holds that a signature file is read as often for many blocks as for one, and its manifest too. */

import { expect, it } from 'vitest';
import { memorySource } from '../../../../../src/bytes/byte-source.ts';
import { readLayout } from '../../../../../src/formats/jar/layout.ts';
import { createManifestCache } from '../../../../../src/formats/jar/manifest/agreement.ts';
import { type Manifest, readManifest } from '../../../../../src/formats/jar/manifest/manifest.ts';
import { signatureFileInfo } from '../../../../../src/formats/jar/signature/signature-file-info.ts';
import { section } from '../../../../support/signed-files/hostile-jar.ts';
import { zip } from '../simple-zip.ts';

it('reads signature file and manifest once, however often they are used', async () => {
  const bytes = zip([
    { name: 'META-INF/MANIFEST.MF', contents: `Manifest-Version: 1.0\r\n\r\n${section('a', 'a')}` },
    { name: 'a', contents: 'a' },
  ]);
  const layout = await readLayout(memorySource(bytes));
  if (layout.manifest === undefined) throw new Error('there is a manifest');
  let readings = 0;
  const counted = (manifest: Manifest): Manifest => ({
    ...manifest,
    sections() {
      readings++;
      return manifest.sections();
    },
  });
  const known = createManifestCache(counted(layout.manifest.parsed));
  const text = `Signature-Version: 1.0\r\n\r\n${section('a', section('a', 'a'))}`;
  const signatureFile = counted(readManifest(Buffer.from(text)));
  const infoOf = signatureFileInfo(layout, () => known);
  const ask = () => {
    const facts = infoOf(signatureFile);
    return [facts.disagreement(), facts.strength(), facts.coverage().uncovered.count, facts.algorithms().length];
  };
  const first = ask();
  expect(first).toEqual([undefined, 'strong', 0, 2]);
  const readForOne = readings;
  for (let block = 0; block < 48; block++) expect(ask()).toEqual(first);
  expect(readings).toBe(readForOne);
});
