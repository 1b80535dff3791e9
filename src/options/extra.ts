/** The members of `extra` in a request (API 2.3), which the user can replace. */

import type { ValueKind } from './option.ts';
import { type Given, refuse } from './values.ts';

const EXTRA_MEMBERS = [
  'platform',
  'version',
  'revision',
  'time',
  'hostname',
  'signing_filename',
  'signing_filesize',
] as const;
type ExtraMember = (typeof EXTRA_MEMBERS)[number];

/** An empty string omits the member from requests. */
export type ReplacedExtra = Readonly<Partial<Record<ExtraMember, string>>>;

export const extraMember: ValueKind<readonly [ExtraMember, string]> = {
  read: readMember,
  form: 'members',
  schema: {
    type: 'object',
    properties: Object.fromEntries(
      EXTRA_MEMBERS.map((member) => [
        member,
        member === 'signing_filesize'
          ? { type: ['integer', 'string'], minimum: 0, pattern: '^\\d*$' }
          : { type: 'string' },
      ]),
    ),
    additionalProperties: false,
  },
  suggestions: EXTRA_MEMBERS.map((member) => `${member}=`),
  note: EXTRA_MEMBERS.join(', '),
};

/** Never shows the value: a user who wants to hide it may have misspelt only the name. */
function readMember({ value, name }: Given): readonly [ExtraMember, string] {
  const [, key, text = ''] = /^(\w+)=(.*)$/s.exec(value) ?? [];
  const member = EXTRA_MEMBERS.find((one) => one === key);
  if (member === undefined) refuse({ name, value }, `KEY=VALUE with one of the keys ${EXTRA_MEMBERS.join(', ')}`);
  const isSize = /^\d*$/.test(text) && Number.isSafeInteger(Number(text));
  if (member === 'signing_filesize' && !isSize) refuse({ name, value }, 'a whole number of bytes', `${member}=…`);
  return [member, text];
}

/** A hidden member stays hidden, whatever other sources say. */
export function resolveExtra(
  members: readonly (readonly [ExtraMember, string])[],
  fileName: 'send' | 'hide',
): ReplacedExtra {
  const replaced: ReplacedExtra = Object.fromEntries(members);
  return fileName === 'hide' ? { ...replaced, signing_filename: '' } : replaced;
}
