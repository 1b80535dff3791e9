/** Lines begin with a word that says how it went: here it gets its colour. */

import { type Tone, toned } from './terminal.ts';

const TONES: Readonly<Record<string, Tone>> = {
  signed: 'good',
  timestamped: 'good',
  removed: 'good',
  attached: 'good',
  reported: 'good',
  trusted: 'good',
  intact: 'good',
  left: 'doubtful',
  warning: 'doubtful',
  'not-accepted': 'bad',
  untrusted: 'bad',
  broken: 'bad',
  unsigned: 'bad',
  failed: 'bad',
  error: 'bad',
};

/** The line with its first word in colour, if it is a word that tells how it went. */
export function painted(line: string, isColoured: boolean): string {
  if (!isColoured) return line;
  return line.replace(/^[\w-]+(?= )/, (word) => toned(word, TONES[word] ?? 'plain', true));
}
