/** Changes of manifests and signature files: of their lines, and of what makes lines. */

import { mutateBytes } from './bytes.ts';
import { once, pick, type Random } from './random.ts';

const ODD_LINES = [
  '',
  ' ',
  '\r',
  ' continued',
  ': x',
  ':',
  'Name:',
  'Name: ',
  'Name:x',
  'name: A.class',
  'Name: A.class',
  'Name: ../A.class',
  'Name: META-INF/MANIFEST.MF',
  'Name: \u00fc\u4e16\u{1f600}',
  'Manifest-Version: 1.0',
  'Signature-Version: 1.0',
  'Multi-Release: true',
  'Magic: x',
  'SHA-256-Digest: AAAA',
  'SHA-256-Digest: ',
  'SHA-256-Digest:',
  'SHA-256-digest: =',
  'MD5-Digest: AAAAAAAAAAAAAAAAAAAAAA==',
  'SHA-512/256-Digest: AAAA',
  'SHA3-256-Digest: AAAA',
  'SHAKE256-Digest: AAAA',
  '__proto__-Digest: AAAA',
  'constructor: x',
  '__proto__: x',
  'X-Android-APK-Signed: 2',
  'SHA-256-Digest-Manifest: AAAA',
  'SHA-256-Digest-Manifest-Main-Attributes: AAAA',
  '-Digest: AAAA',
  '-Digest-Manifest: AAAA',
  '\ufeffManifest-Version: 1.0',
  'A\0: b',
  `X: ${'y'.repeat(511 - 5)}`,
  `X: ${'y'.repeat(512 - 4)}`,
  `X: ${'y'.repeat(600)}`,
  `${'N'.repeat(70)}: x`,
  `${'N'.repeat(71)}: x`,
];
const ENDS = ['\r\n', '\n', '\r', '', '\n\r', '\r\n\r\n', '\u2028', '\0'];

export function mutateLines(original: Uint8Array, random: Random): Buffer {
  let text = Buffer.from(original).toString('latin1');
  for (let left = 1 + random(4); left > 0; left -= 1) text = change(text, random);
  const bytes = Buffer.from(text, 'latin1');
  return once(random, 8) ? mutateBytes(bytes, random) : bytes;
}

function change(text: string, random: Random): string {
  // With the ends, which every other part is.
  const parts = text.split(/(\r\n|\r|\n)/);
  const at = 2 * random(Math.ceil(parts.length / 2));
  const line = parts[at] ?? '';
  const replaceWith = (...others: readonly string[]): string => parts.toSpliced(at, 1, ...others).join('');
  switch (random(12)) {
    case 0:
      return parts.toSpliced(at, 2).join('');
    case 1:
      return replaceWith(line, pick(random, ENDS), line);
    case 2:
      return replaceWith(Buffer.from(pick(random, ODD_LINES)).toString('latin1'));
    case 3:
    case 4:
      return replaceWith(line, '\r\n', Buffer.from(pick(random, ODD_LINES)).toString('latin1'));
    case 5: {
      const cut = random(line.length + 1);
      return replaceWith(line.slice(0, cut), '\r\n ', line.slice(cut));
    }
    case 6:
      return parts.toSpliced(at + 1, 1, pick(random, ENDS)).join('');
    case 7: {
      const other = 2 * random(Math.ceil(parts.length / 2));
      return parts
        .with(Math.min(other, parts.length - 1), line)
        .with(at, parts[other] ?? '')
        .join('');
    }
    case 8:
      return replaceWith(line.replace(/: .*/, `: ${'A'.repeat(random(90))}`));
    case 9:
      return replaceWith(
        line.replace(/SHA-?\d+/, pick(random, ['SHA', 'SHA1', 'SHA-1', 'MD5', 'SHA-512', 'SHA3-384', 'X'])),
      );
    case 10: {
      const section = text.slice(text.length >> 1);
      return text + section.repeat(1 + random(once(random, 10) ? 300 : 3));
    }
    default:
      return text.slice(0, random(text.length + 1));
  }
}
