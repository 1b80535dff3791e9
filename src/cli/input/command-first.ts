import { PROGRAM } from '../command-table.ts';
import { isOurs, takesValue } from './strange-option.ts';

/** Moves options that precede the command: `--profile work sign x` becomes `sign --profile work x`. */
export function commandFirst(argv: readonly string[]): readonly string[] {
  const at = indexOfWord(argv);
  const [name, before, after] = [argv[at], argv.slice(0, at), argv.slice(at + 1)];
  if (name === undefined || name === '--' || before.some(isVersion)) return argv;
  const entry = PROGRAM.commands.find((one) => one.name === name);
  // The word after an unknown option may be the option's value, which may be a secret.
  if (entry === undefined && !before.every(isKnown)) return argv;
  if (entry === undefined || !('commands' in entry)) return [name, ...before, ...after];
  const below = indexOfWord(after);
  const command = after.slice(below, below + 1);
  return [name, ...command, ...before, ...after.slice(0, below), ...after.slice(below + 1)];
}

function indexOfWord(words: readonly string[]): number {
  let at = 0;
  while (words[at]?.startsWith('-') && words[at] !== '--') at += takesNextWord(words[at] ?? '') ? 2 : 1;
  return at;
}

function isKnown(word: string, index: number, words: readonly string[]): boolean {
  return isOurs(word.replace(/=.*/s, '')) || takesNextWord(words[index - 1] ?? '');
}

/** In `-vp`, `-p` takes the next word as its value; in `-pwork`, the value follows without a space. */
function takesNextWord(word: string): boolean {
  if (word.startsWith('--')) return takesValue(word);
  const letters = [...word.slice(1)];
  return letters.findIndex((letter) => takesValue(`-${letter}`)) === letters.length - 1 && letters.length > 0;
}

function isVersion(word: string): boolean {
  return word === '-V' || word === '--version';
}
