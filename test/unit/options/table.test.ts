import { describe, expect, it } from 'vitest';
import { PROGRAM } from '../../../src/cli/command-table.ts';
import { definitionOf, OPTIONS, type OptionKey, optionsOf } from '../../../src/options/table.ts';

const KEYS = Object.keys(OPTIONS) as readonly OptionKey[];
const COMMANDS = PROGRAM.commands.flatMap((entry) => ('commands' in entry ? entry.commands : [entry]));

/** The name under which commander stores the value of an option. */
function attributeOf(flag: string): string {
  return flag.replace(/^--(no-)?/, '').replace(/-([a-z])/g, (_all, letter: string) => letter.toUpperCase());
}

describe.each(KEYS)('%s', (key) => {
  const { flag, commands, conflicts = [], kind, help, default: text } = definitionOf(key);

  it('has the key that commander gives its flag', () => {
    expect(attributeOf(flag)).toBe(key);
  });

  it('belongs to commands that exist, and conflicts with options that exist', () => {
    const names = COMMANDS.map(({ name }) => name);
    expect(commands.filter((name) => !names.includes(name))).toEqual([]);
    expect(conflicts.filter((other) => !(other in OPTIONS))).toEqual([]);
  });

  it('has a default that its kind accepts, and help without values, default and full stop', () => {
    if (text !== undefined) expect(() => kind?.read({ value: text, name: 'default' })).not.toThrow();
    expect(help).not.toMatch(/\.$|\[CODESIGN_|default \w|repeatable/);
  });
});

describe.each(COMMANDS.map(({ name }) => name))('%s', (name) => {
  it('has each flag once', () => {
    const flags = optionsOf(name).flatMap(({ flag, short }) => (short === undefined ? [flag] : [flag, short]));
    expect(flags).toEqual([...new Set(flags)]);
  });
});
