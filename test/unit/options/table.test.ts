import { expect, it } from 'vitest';
import { definitionOf, OPTIONS, type OptionKey } from '../../../src/options/table.ts';

it.each(Object.keys(OPTIONS) as readonly OptionKey[])(
  '%s has the key that commander gives its flag, a valid default, and help without what other columns contain',
  (key) => {
    const { flag, conflicts = [], kind, help, default: value } = definitionOf(key);
    const attribute = flag.replace(/^--(no-)?/, '').replace(/-([a-z])/g, (_all, letter) => letter.toUpperCase());
    expect(attribute).toBe(key);
    expect(conflicts.filter((other) => !(other in OPTIONS))).toEqual([]);
    if (value !== undefined) expect(() => kind?.read({ value, name: 'default' })).not.toThrow();
    expect(help).not.toMatch(/\.$|\[CODESIGN_|default \w|repeatable/);
  },
);
