/** The JSON Schema of `codesign-policy.json`. A test compares it with what the program accepts. */

import { DIGEST_ALGORITHMS } from '../../src/crypto/algorithms.ts';
import { KINDS } from '../../src/formats/kinds.ts';

const text = { type: 'string', minLength: 1 };
const comments = { $schema: { type: 'string' }, comment: { type: 'string' } };
const sha256 = '[0-9a-f]{64}';
const glob = { type: 'string', pattern: '^[^!]' };
const listOf = (items: object) => ({ anyOf: [items, { type: 'array', items, minItems: 1 }] });
const object = (properties: object, required: readonly string[] = []) => ({
  type: 'object',
  properties: { ...comments, ...properties },
  required,
  additionalProperties: false,
});

const signer = {
  anyOf: [
    { type: 'string', pattern: `^sha256:${sha256}$` },
    object({
      commonName: text,
      organization: text,
      organizationalUnit: text,
      country: text,
      issuerSha256: { type: 'string', pattern: `^${sha256}$` },
      eku: { type: 'string', pattern: '^\\d+(\\.\\d+)+$' },
    }),
  ],
};

const requirements = {
  require: { enum: ['duty', 'signed', 'intact', 'nothing'] },
  signers: { type: 'array', items: signer, minItems: 1 },
  timestamp: { type: 'boolean' },
  digest: { enum: DIGEST_ALGORITHMS },
  covered: { type: 'array', items: { enum: ['own', 'catalog', 'package'] }, minItems: 1 },
  notOpened: { enum: ['warn', 'fail'] },
  sign: { type: 'boolean' },
};

const rule = {
  ...object(
    {
      ...requirements,
      files: listOf(glob),
      kinds: listOf({ enum: [...KINDS] }),
      reason: text,
      until: { type: 'string', format: 'date' },
    },
    ['files'],
  ),
  if: { properties: { require: { enum: ['intact', 'nothing'] } }, required: ['require'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ['reason'] },
};

export function policySchema(): object {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'codesign-policy.json',
    description: 'Which files of a release must be signed, and by whom. codesign-remote verify --policy reads it.',
    ...object(
      {
        version: { const: 1 },
        roots: { type: 'array', items: text, minItems: 1 },
        defaults: object(requirements),
        rules: { type: 'array', items: rule },
        minimum: { type: 'object', additionalProperties: { type: 'integer', minimum: 1 } },
      },
      ['version'],
    ),
  };
}
