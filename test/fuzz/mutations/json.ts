/** Changes of JSON: of the values in it, and of the text. */

import { mutateBytes } from './bytes.ts';
import { choose, once, pick, type Random } from './random.ts';

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

export const ODD_TEXTS: readonly string[] = [
  ...['', ' ', '\0', '\n', 'a\r\nb', '\ud800', '\ufeff', '\u202e\u0000\u001b[31m', '\u{1f600}'.repeat(40)],
  ...['x'.repeat(5000), '__proto__', 'constructor', 'null', '0', '-1', '1e400', '0x10', '007', '٣', '9'.repeat(400)],
  ...['=', '====', 'AAAA', 'AAA=', 'AA=A', 'A', '-_-_', 'AAAA\nAAAA', 'SHA256', 'sha-1', '../../x'],
  ...['http://example.com/', 'https://example.com/a?b#c', 'https://user:pw@example.com', 'https://[::1]:99999/'],
  'file:///etc/passwd',
];
const ODD_NUMBERS = [0, -0, -1, 1, 0.5, 200, 401, 2 ** 31, 2 ** 53, 2 ** 64, 1e308, -1e308, 5e-324, 0xffff_ffff];

/** A value of another kind, or an odd one of the same. */
export function oddValue(random: Random): Json {
  return choose<Json>(random, 6, [
    () => pick(random, [null, true, false]),
    () => pick(random, ODD_NUMBERS),
    () => (once(random, 2) ? [] : [pick(random, ODD_TEXTS), null]),
    () => (once(random, 2) ? {} : { code: 0, message: pick(random, ODD_TEXTS), signature: [] }),
    () => pick(random, ODD_TEXTS),
  ]);
}

/** One place in the value changed, taken out or doubled. */
export function mutateValue(value: unknown, random: Random): unknown {
  if (typeof value !== 'object' || value === null || once(random, 6)) return oddChange(value, random);
  if (Array.isArray(value)) {
    if (value.length === 0) return [oddValue(random)];
    const at = random(value.length);
    if (once(random, 4)) return value.toSpliced(at, 1, ...(once(random, 2) ? [] : [value[at], value[at]]));
    return value.with(at, mutateValue(value[at], random));
  }
  const members = Object.entries(value);
  if (members.length === 0 || once(random, 12)) return { ...value, [pick(random, ODD_TEXTS)]: oddValue(random) };
  const [name, member] = pick(random, members);
  if (once(random, 6)) return Object.fromEntries(members.filter(([other]) => other !== name));
  return { ...value, [name]: mutateValue(member, random) };
}

function oddChange(value: unknown, random: Random): unknown {
  if (typeof value === 'string' && once(random, 2)) {
    const at = random(value.length + 1);
    return value.slice(0, at) + pick(random, ODD_TEXTS) + value.slice(at + random(3));
  }
  if (typeof value === 'number' && once(random, 2)) return value + random(5) - 2;
  return oddValue(random);
}

/** The text of a value, as a user might send it. */
export function mutateJson(value: unknown, random: Random): Buffer {
  let changed = value;
  for (let left = random(4); left > 0; left -= 1) changed = mutateValue(changed, random);
  const text = JSON.stringify(changed, undefined, once(random, 4) ? 2 : 0) ?? 'undefined';
  return mutateText(text, random);
}

function mutateText(text: string, random: Random): Buffer {
  const depth = 1 + random(once(random, 10) ? 20_000 : 50);
  const [member] = /"[^"]*":("[^"]*"|[\d.]+)/.exec(text) ?? [''];
  return choose(random, 14, [
    () => Buffer.from(`\ufeff${text}`),
    () => Buffer.from(text, 'utf16le'),
    // The same name twice.
    () => Buffer.from(text.replace(/}$/, `,${member}}`)),
    () => Buffer.from(text.replace(/[:,]/, (mark) => `${mark}${'['.repeat(depth)}${']'.repeat(depth)},`)),
    () => Buffer.from(text.replace(/\d+/, pick(random, ['1e400', '-0', '1E+2', '00', '9'.repeat(400), '0.0']))),
    () => Buffer.from(text + pick(random, [' ', '\n', '\0', ',', '{}', text])),
    () => mutateBytes(Buffer.from(text), random),
    () => Buffer.from(text),
  ]);
}
