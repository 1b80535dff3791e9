/** The JSON Schemas of the files of settings, made from the table of options. */

import type { OptionDefinition } from '../../src/options/option.ts';
import { MOST_VALUES } from '../../src/options/stored/stored-values.ts';
import { definitionOf, PROFILE_KEYS, PROJECT_KEYS, type SettingKey } from '../../src/options/table.ts';

const DRAFT = 'http://json-schema.org/draft-07/schema#';
const ADDRESS = { type: 'string', format: 'uri', pattern: '^https?://' };

export function projectSchema(): object {
  return {
    $schema: DRAFT,
    title: 'codesign-remote.config.json',
    description: 'How the files of a project are signed. A project cannot choose where credentials are sent.',
    type: 'object',
    properties: { $schema: { type: 'string' }, ...propertiesOf(PROJECT_KEYS) },
    additionalProperties: false,
  };
}

export function profilesSchema(): object {
  const profile = {
    type: 'object',
    properties: {
      environment: { type: 'string', description: describe(definitionOf('environment')) },
      environments: {
        description: 'Addresses of the signing service, by the name of the environment.',
        type: 'object',
        additionalProperties: ADDRESS,
      },
      ...propertiesOf(PROFILE_KEYS),
    },
    additionalProperties: false,
  };
  return {
    $schema: DRAFT,
    title: 'config.json of codesign-remote',
    description: 'The profiles of a user. codesign-remote config set changes them.',
    type: 'object',
    properties: { profiles: { type: 'object', additionalProperties: profile } },
    additionalProperties: false,
  };
}

function propertiesOf(keys: readonly SettingKey[]): object {
  return Object.fromEntries(keys.map((key) => [key, propertyOf(definitionOf(key))]));
}

function propertyOf(option: OptionDefinition): object {
  const { kind, isList, default: text } = option;
  const { schema, form } = kind ?? { schema: {}, form: 'text' };
  const list = { type: 'array', items: schema, minItems: 1, maxItems: MOST_VALUES };
  return {
    description: describe(option),
    ...(isList && form !== 'members' ? { anyOf: [schema, list] } : schema),
    ...(text !== undefined && { default: form === 'number' ? Number(text) : text }),
  };
}

function describe({ help, default: text, defaultText }: OptionDefinition): string {
  const otherwise = text ?? defaultText;
  return `${help.charAt(0).toUpperCase()}${help.slice(1)}.${otherwise === undefined ? '' : ` Default: ${otherwise}.`}`;
}
