/** The JSON Schema of the project file, made from the settings themselves. */

import { DIGEST_ALGORITHMS } from '../../../../src/crypto/algorithms.ts';
import type { SettingKey } from '../../../../src/options/keys.ts';
import { PROJECT_KEYS } from '../../../../src/options/stored/project-file.ts';
import { FILENAME_MASKS } from '../../../../src/options/values.ts';

const WEB_ADDRESS = '^https?://';
const AUTHORITY = { type: 'string', format: 'uri', pattern: WEB_ADDRESS };

/** What a key means, in an editor. A key without words here has no schema, and the test fails. */
const PROPERTIES: Readonly<Partial<Record<SettingKey, object>>> = {
  algorithm: {
    description: 'Digest algorithm of the signatures. Default: SHA256.',
    enum: [...DIGEST_ALGORITHMS],
    default: 'SHA256',
  },
  timestampUrl: {
    description: 'RFC 3161 time stamp authorities, tried in order.',
    anyOf: [AUTHORITY, { type: 'array', items: AUTHORITY, minItems: 1, maxItems: 32 }],
  },
  description: { description: "The program's name, which Windows shows.", type: 'string', minLength: 1 },
  url: { description: "The program's web page.", type: 'string', format: 'uri', pattern: WEB_ADDRESS },
  signerName: { description: "JAR: the name of the signature's files in META-INF.", type: 'string', minLength: 1 },
  output: {
    description: 'Where sign writes instead of in place, below the folder of this file. A folder ends with a slash.',
    type: 'string',
    minLength: 1,
  },
  concurrency: {
    description: 'Service calls under way at once. Default: 4.',
    type: 'integer',
    minimum: 1,
    maximum: 256,
    default: 4,
  },
  maskFilename: {
    description: 'The file name told to the service. Default: basename.',
    enum: [...FILENAME_MASKS],
    default: 'basename',
  },
};

export function projectSchema(): object {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'codesign-remote.config.json',
    description: 'How the files of a project are signed. Where credentials go is not for a project to say.',
    type: 'object',
    properties: {
      $schema: { type: 'string' },
      ...Object.fromEntries(PROJECT_KEYS.map((key) => [key, PROPERTIES[key]])),
    },
    additionalProperties: false,
  };
}
