import type { OptionDefinition, ValueKind } from '../../options/option.ts';
import { helpOf, OPTIONS, optionsOf, PROFILE_KEYS } from '../../options/table.ts';
import type { ArgumentDefinition, CommandDefinition } from '../command.ts';
import { PROGRAM } from '../command-table.ts';
import { commandFirst } from '../input/command-first.ts';
import type { Io } from '../io.ts';

interface Candidate {
  readonly word: string;
  readonly help?: string;
}

/** With `files`, the shell completes file names. */
type Candidates = readonly Candidate[] | 'files';

type Place = ArgumentDefinition['offers'] | NonNullable<ValueKind<unknown>['suggestions']>;

/** `words` are the words between `codesign-remote` and the cursor. The last word may be empty. */
export async function complete(words: readonly string[], io: Io): Promise<number> {
  // bash splits `--option=value` into three words for completion.
  const split = [...words, ...(words.at(-1) === '=' ? [''] : [])].filter((word) => word !== '=');
  const [, lead = '', current = ''] = /^(--[\w-]+=)?["']?(.*?)"?$/s.exec(split.at(-1) ?? '') ?? [];
  const before = [...split.slice(0, -1), ...(lead === '' ? [] : [lead.slice(0, -1)])];
  const candidates = await candidatesFor(commandFirst(before), current, io.env);
  if (candidates === 'files') {
    io.stdout.write(':files\n');
    return 0;
  }
  for (const { word, help } of candidates) {
    if (word.startsWith(current)) io.stdout.write(`${lead}${word}${help === undefined ? '' : `\t${help}`}\n`);
  }
  return 0;
}

async function candidatesFor(before: readonly string[], current: string, env: Io['env']): Promise<Candidates> {
  const [first, second] = before;
  if (first === undefined) return current.startsWith('-') ? programOptions() : PROGRAM.commands.map(asCandidate);
  const entry = PROGRAM.commands.find(({ name }) => name === first);
  if (entry === undefined) return [];
  if (!('commands' in entry)) return candidatesIn(entry, before.slice(1), current, env);
  if (second === undefined) return current.startsWith('-') ? [helpOption()] : entry.commands.map(asCandidate);
  const command = entry.commands.find(({ name }) => name === `${first} ${second}`);
  return command === undefined ? [] : candidatesIn(command, before.slice(2), current, env);
}

async function candidatesIn(
  command: CommandDefinition,
  before: readonly string[],
  current: string,
  env: Io['env'],
): Promise<Candidates> {
  const options = optionsOf(command.name);
  const kindAfter = (word: string | undefined) => {
    const option = options.find(({ flag, short }) => word !== undefined && (word === flag || word === short));
    return option?.placeholder === undefined ? undefined : option.kind;
  };
  const kind = kindAfter(before.at(-1));
  if (kind !== undefined) {
    return candidatesAt(kind.isPath ? 'paths' : (kind.words ?? kind.suggestions ?? 'nothing'), before, env);
  }
  if (current.startsWith('-')) return [...options.flatMap(flagsOf), helpOption()];
  const values = before.filter((word, index) => !word.startsWith('-') && kindAfter(before[index - 1]) === undefined);
  const place = command.arguments[values.length] ?? command.arguments.findLast(({ name }) => name.endsWith('...'));
  return candidatesAt(place?.offers ?? 'nothing', before, env);
}

async function candidatesAt(place: Place, before: readonly string[], env: Io['env']): Promise<Candidates> {
  const words = typeof place === 'object' ? place : await wordsAt(place, before, env);
  return words === 'files' ? words : words.map((word) => ({ word }));
}

async function wordsAt(
  place: Exclude<Place, readonly string[]>,
  before: readonly string[],
  env: Io['env'],
): Promise<readonly string[] | 'files'> {
  switch (place) {
    case 'paths':
      return 'files';
    case 'nothing':
      return [];
    case 'codes':
      return (await import('../commands/explain.ts')).errorCodes();
    case 'keys': {
      const addresses = (await environments(before, env)).map((name) => `environments.${name}`);
      return ['baseUrl', 'environment', ...addresses, ...PROFILE_KEYS];
    }
    case 'profiles':
      return (await openProfiles(env)).names();
    case 'environments':
      return environments(before, env);
  }
}

async function environments(before: readonly string[], env: Io['env']): Promise<readonly string[]> {
  const { flag, short, variable, default: fallback } = OPTIONS.profile;
  const typed = before.findLastIndex((word) => word === flag || word === short);
  const name = (typed === -1 ? env[variable] : before[typed + 1]) || fallback;
  const profiles = await openProfiles(env);
  const stored = profiles.has(name) ? profiles.read(name).environments.keys() : [];
  return [...new Set([OPTIONS.environment.default, 'alternate', ...stored])];
}

async function openProfiles(env: Io['env']) {
  return (await import('../../options/stored/profiles.ts')).openProfiles(env);
}

function programOptions(): readonly Candidate[] {
  return [{ word: '--version', help: PROGRAM.versionHelp }, helpOption()];
}

function helpOption(): Candidate {
  return { word: '--help', help: PROGRAM.helpHelp };
}

function flagsOf(option: OptionDefinition): readonly Candidate[] {
  const help = helpOf(option);
  return [option.flag, option.short].flatMap((word) => (word === undefined ? [] : [{ word, help }]));
}

function asCandidate({ name, description }: { readonly name: string; readonly description: string }): Candidate {
  return { word: name.slice(name.lastIndexOf(' ') + 1), help: description };
}
