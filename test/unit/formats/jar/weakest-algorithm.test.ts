/** Holds the algorithm that a JAR's signature is said to have to the weakest digest that it rests on. */

import { describe, expect, it } from 'vitest';
import { readManifest } from '../../../../src/formats/jar/manifest/manifest.ts';
import {
  fileAlgorithms,
  sectionAlgorithms,
  weakestAlgorithm,
} from '../../../../src/formats/jar/signature/signature-file-info.ts';

const manifestWith = (...sections: readonly (readonly string[])[]) =>
  readManifest(
    Buffer.from(
      `Manifest-Version: 1.0\r\n\r\n${sections
        .map((names, index) => `Name: ${index}\r\n${names.map((name) => `${name}-Digest: AA==\r\n`).join('')}\r\n`)
        .join('')}`,
    ),
  );
const signatureFileWith = (name: string, ...sections: readonly (readonly string[])[]) =>
  readManifest(
    Buffer.from(
      manifestWith(...sections)
        .bytes.toString()
        .replace('Manifest-Version: 1.0\r\n', `Signature-Version: 1.0\r\n${name}-Digest-Manifest: AA==\r\n`),
    ),
  );

describe('the algorithm of a signature', () => {
  it.each([
    ['SHA512', signatureFileWith('SHA-512', ['SHA-512']), manifestWith(['SHA-512']), 'SHA512'],
    ['SHA384', signatureFileWith('SHA-512'), manifestWith(['SHA-512']), 'SHA384'],
    ['SHA384', signatureFileWith('SHA-256'), manifestWith(['SHA-512']), 'SHA256'],
    ['SHA384', signatureFileWith('SHA-512', ['SHA-256']), manifestWith(['SHA-512']), 'SHA256'],
    ['SHA384', signatureFileWith('SHA-512'), manifestWith(['SHA-512'], ['sha-256']), 'SHA256'],
    ['SHA384', signatureFileWith('SHA-384'), manifestWith(['SHA1', 'SHA-384']), 'SHA384'],
    ['SHA384', signatureFileWith('SHA-384'), manifestWith(['MD5']), undefined],
    ['SHA384', signatureFileWith('SHA3-384'), manifestWith(['SHA-384']), undefined],
    ['SHA384', signatureFileWith('SHA-384'), manifestWith([], ['SHA-384']), 'SHA384'],
    ['SHA256', undefined, undefined, 'SHA256'],
    [undefined, signatureFileWith('SHA-256'), manifestWith(['SHA-256']), undefined],
  ] as const)(
    'is the weakest of block, signature file and manifest: %#',
    (ofBlock, signatureFile, manifest, expected) => {
      expect(
        weakestAlgorithm(
          [ofBlock],
          signatureFile === undefined ? [] : fileAlgorithms(signatureFile),
          manifest === undefined ? [] : sectionAlgorithms(manifest),
        ),
      ).toBe(expected);
    },
  );
});
