import type { FormatOption } from '../../format/options.ts';
import { type DeclaredOption, FORMAT_OPTIONS } from '../../formats/registry.ts';
import type { OptionDefinition, ValueKind } from '../option.ts';
import { refuse } from '../values.ts';

type Entry<Option> = Omit<OptionDefinition, 'kind' | 'commands' | 'stored'> & {
  readonly commands: readonly ['sign'];
} & (Option extends { readonly value: object } ? { readonly kind: ValueKind<string> } : unknown) &
  (Option extends { readonly stored: infer Stored } ? { readonly stored: Stored } : unknown);

type Entries = { readonly [Option in DeclaredOption as Option['key']]: Entry<Option> };

export const FORMAT_OPTION_KEYS = FORMAT_OPTIONS.map(({ key }) => key);

export const FORMAT_ENTRIES = Object.fromEntries(
  FORMAT_OPTIONS.map((option) => [option.key, entryOf(option)]),
) as Entries;

function entryOf({ key: _key, value, appliesTo: _, ...option }: FormatOption): OptionDefinition {
  const commands = ['sign'] as const;
  if (value === undefined) return { ...option, commands };
  const { accepts, expected, schema } = value;
  const read: ValueKind<string>['read'] = (given) => (accepts(given.value) ? given.value : refuse(given, expected));
  return { ...option, commands, kind: { read, form: 'text', schema } };
}
