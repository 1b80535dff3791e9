import { expect, it } from 'vitest';
import { readManifest } from '../../../../src/formats/jar/manifest/manifest.ts';
import {
  fileAlgorithms,
  sectionAlgorithms,
  weakestAlgorithm,
} from '../../../../src/formats/jar/signature/signature-file-info.ts';

const sectionsBy = (sections: readonly string[]) =>
  sections
    .map((names, index) => `Name: ${index}\r\n${names.replaceAll(/(\S+) ?/g, '$1-Digest: AA==\r\n')}\r\n`)
    .join('');
/** Each section by the names of its digests. */
const manifest = (...sections: readonly string[]) =>
  sectionAlgorithms(readManifest(Buffer.from(`Manifest-Version: 1.0\r\n\r\n${sectionsBy(sections)}`)));
const file = (whole: string, ...sections: readonly string[]) => {
  const main = `Signature-Version: 1.0\r\n${whole}-Digest-Manifest: AA==\r\n\r\n`;
  return fileAlgorithms(readManifest(Buffer.from(main + sectionsBy(sections))));
};

it.each([
  ['SHA384', file('SHA-512'), manifest('SHA-512'), 'SHA384'],
  ['SHA384', file('SHA-256'), manifest('SHA-512'), 'SHA256'],
  ['SHA384', file('SHA-512', 'SHA-256'), manifest('SHA-512'), 'SHA256'],
  ['SHA384', file('SHA-512'), manifest('SHA-512', 'sha-256'), 'SHA256'],
  ['SHA384', file('SHA-384'), manifest('SHA1 SHA-384'), 'SHA384'],
  ['SHA384', file('SHA-384'), manifest('MD5'), undefined],
  ['SHA384', file('SHA-384'), manifest('', 'SHA-384'), 'SHA384'],
  [undefined, file('SHA-256'), manifest('SHA-256'), undefined],
] as const)('is the weakest of block, signature file and manifest: %#', (block, ofFile, ofManifest, expected) => {
  expect(weakestAlgorithm([block], ofFile, ofManifest)).toBe(expected);
});
