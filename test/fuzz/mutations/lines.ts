/** Changes of manifests and signature files: of their lines, and of what makes lines. */

import { mutateBytes } from './bytes.ts';
import { choose, once, pick, type Random } from './random.ts';

const ODD_LINES = [
  ...['', ' ', '\r', ' continued', ': x', ':', 'Name:', 'Name: ', 'Name:x', 'name: A.class', 'Name: A.class', 'A\0: b'],
  ...['Name: ../A.class', 'Name: META-INF/MANIFEST.MF', 'Name: \u00fc\u4e16\u{1f600}', 'Magic: x', 'constructor: x'],
  ...['Manifest-Version: 1.0', '\ufeffManifest-Version: 1.0', 'Signature-Version: 1.0', 'Multi-Release: true'],
  ...['SHA-256-Digest: AAAA', 'SHA-256-Digest: ', 'SHA-256-Digest:', 'SHA-256-digest: =', '-Digest: AAAA'],
  ...['SHA-512/256-Digest: AAAA', 'SHA3-256-Digest: AAAA', 'SHAKE256-Digest: AAAA', '__proto__-Digest: AAAA'],
  ...['MD5-Digest: AAAAAAAAAAAAAAAAAAAAAA==', '__proto__: x', 'X-Android-APK-Signed: 2', '-Digest-Manifest: AAAA'],
  ...['SHA-256-Digest-Manifest: AAAA', 'SHA-256-Digest-Manifest-Main-Attributes: AAAA'],
  ...[506, 508, 600].map((length) => `X: ${'y'.repeat(length)}`),
  ...[70, 71].map((length) => `${'N'.repeat(length)}: x`),
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
  const other = 2 * random(Math.ceil(parts.length / 2));
  const cut = random(line.length + 1);
  const odd = Buffer.from(pick(random, ODD_LINES)).toString('latin1');
  const algorithm = pick(random, ['SHA', 'SHA1', 'SHA-1', 'MD5', 'SHA-512', 'SHA3-384', 'X']);
  return choose(random, 11, [
    () => parts.toSpliced(at, 2).join(''),
    () => replaceWith(line, pick(random, ENDS), line),
    () => replaceWith(odd),
    () => replaceWith(line, '\r\n', odd),
    () => replaceWith(line.slice(0, cut), '\r\n ', line.slice(cut)),
    () => parts.toSpliced(at + 1, 1, pick(random, ENDS)).join(''),
    () => Object.assign([...parts], { [at]: parts[other] ?? '', [other]: line }).join(''),
    () => replaceWith(line.replace(/: .*/, `: ${'A'.repeat(random(90))}`)),
    () => replaceWith(line.replace(/SHA-?\d+/, algorithm)),
    () => text + text.slice(text.length >> 1).repeat(1 + random(once(random, 10) ? 300 : 3)),
    () => text.slice(0, random(text.length + 1)),
  ]);
}
