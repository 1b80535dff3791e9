/** What of a session's text differs from run to run, and what stands for it. */

export type Places = readonly (readonly [text: string, placeholder: string])[];

const CHANCE: readonly (readonly [pattern: RegExp, placeholder: string])[] = [
  [/\b[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}\b/g, '<uuid>'],
  [/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?Z?/g, '<time>'],
  [/\b\d{4}-\d\d-\d\d\b/g, '<date>'],
  [/\b\d{4}-\d\d\b(?=[\s"])/g, '<month>'],
  [/\b[\da-f]{64}\b/g, '<sha256>'],
  [/\b[\da-f]{40}\b/g, '<sha1>'],
  [/\b[\da-f]{32}\b/g, '<serial>'],
  [/\b[\da-f]{20}\b/g, '<call>'],
  [/\bCA [\da-f]{8}\b/g, 'CA <name>'],
  [/\b0x[\da-f]{8}\b/g, '<checksum>'],
  // Another zlib deflates otherwise, and a random number may be a byte shorter.
  [/\b[\d,]+(?=\s+bytes)/g, '<n>'],
  [/"bytes": \d+/g, '"bytes": <n>'],
  [/\b(byte|at|up to) \d+/g, '$1 <n>'],
  [/\bAK[\dA-F]{2}…[\dA-F]{4}\b/g, '<masked>'],
  [
    /codesign-remote \S+(?: \(\S+\))?, Node\.js \S+, \w+ \w+/g,
    'codesign-remote <version>, Node.js <version>, <system>',
  ],
  [/\b\d+ variables CODESIGN_/g, '<n> variables CODESIGN_'],
  [/\b[\d,]+ MB free/g, '<n> MB free'],
  // Another Node.js names another reason.
  [/\b(?:EEXIST: file already exists|ENOTDIR: not a directory)(?=, mkdir)|\b(?:EEXIST|ENOTDIR)(?= \[)/g, '<reason>'],
  [/\/\S+(?=: name it)/g, '<roots>'],
  [/TLSv1\.\d/g, '<TLS>'],
  [/\b\d+ ms\b/g, '<n> ms'],
  [/"milliseconds": \d+/g, '"milliseconds": <n>'],
  [/\b\d+\.\d s\b/g, '<n> s'],
];

/** `places`: texts that differ, longer ones first; what is known by its form needs none. */
export function withoutChance(text: string, places: Places): string {
  let plain = text;
  for (const [place, placeholder] of places) plain = plain.replaceAll(place, placeholder);
  for (const [pattern, placeholder] of CHANCE) plain = plain.replace(pattern, placeholder);
  return plain;
}
