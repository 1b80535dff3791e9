import { settingsErrors } from './errors.ts';
import type { CommandName } from './option.ts';
import { shownKey } from './stored/json-file.ts';
import { didYouMean } from './suggest.ts';
import { type CommandOption, optionsOf } from './table.ts';
import { refuse } from './values.ts';

/**
 * The compiler checks options only for users of TypeScript. `own` contains the options that the function has in addition
 * to those that it shares with the command.
 */
export function checkOptions(name: string, command: CommandName, options: object, own: readonly string[]): void {
  const settings = optionsOf(command);
  const known = [...own, ...settings.flatMap(({ key, isCommandLineOnly }) => (isCommandLineOnly ? [] : key))];
  const given: Readonly<Record<string, unknown>> = { ...options };
  for (const [key, value] of Object.entries(given)) {
    if (!known.includes(key)) {
      const suggestion = didYouMean(key, known);
      throw settingsErrors('setting-unknown', { where: name, key: shownKey(key), suggestion, known: known.join(', ') });
    }
    const setting = settings.find((one) => one.key === key);
    if (setting !== undefined && value !== undefined) checkType(value, setting);
  }
  if (own.includes('files')) checkFiles(given.files);
}

function checkType(value: unknown, { key, kind, isList }: CommandOption): void {
  const values: readonly unknown[] = isList && Array.isArray(value) ? value : [value];
  const isSwitch = kind === undefined || kind.form === 'switch';
  const fits = values.every((one) => (isSwitch ? typeof one === 'boolean' : isText(one) || typeof one === 'number'));
  if (!fits) reject(key, isSwitch ? 'true or false' : isList ? 'a list of texts' : 'text or a number');
}

function checkFiles(files: unknown): void {
  if (!Array.isArray(files) || !files.every((file) => isText(file) || (isText(file?.path) && isText(file.output)))) {
    reject('files', 'a list of paths, or of objects with path and output');
  }
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

/** The message does not show the value. */
function reject(name: string, expected: string): never {
  return refuse({ name, value: 'not shown' }, expected);
}
