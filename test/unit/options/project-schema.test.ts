/** The published schema of the project file: of the settings that there are, and agreeing with what the program takes. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readProjectFile } from '../../../src/options/stored/project-file.ts';
import { definitionOf } from '../../../src/options/table.ts';
import { profilesSchema, projectSchema } from './support/project-schema.ts';

const inSchema = (name: string) => fileURLToPath(new URL(`../../../schema/${name}`, import.meta.url));

type Validate = (value: unknown) => boolean;
/** What conf validates with. */
const require = createRequire(createRequire(import.meta.url).resolve('conf'));
const { default: Ajv } = require('ajv') as { default: new (options: object) => { compile(schema: object): Validate } };

let folder = '';
let fits: Validate = () => false;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'codesign-schema-'));
  const formats = { uri: (text: string) => URL.canParse(text) };
  fits = new Ajv({ formats }).compile(projectSchema());
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it('is the file in schema/ (renewed by: npx vitest run test/unit/options/project-schema.test.ts -u)', async () => {
  await expect(formatted(projectSchema())).toMatchFileSnapshot(inSchema('codesign-remote.config.schema.json'));
});

it('of the profiles is the file next to it', async () => {
  await expect(formatted(profilesSchema())).toMatchFileSnapshot(inSchema('codesign-remote.profiles.schema.json'));
});

describe('takes and refuses what the program does:', () => {
  it.each([
    [{}],
    [{ $schema: 'x' }],
    [{ algorithm: 'SHA384' }],
    [{ algorithm: 'MD5' }],
    [{ algorithm: 256 }],
    [{ timestampUrl: 'http://t.example' }],
    [{ timestampUrl: ['http://t.example', 'https://u.example'] }],
    [{ timestampUrl: [] }],
    [{ timestampUrl: [1] }],
    [{ timestampUrl: Array.from({ length: 33 }, () => 'http://t.example') }],
    [{ timestampUrl: 'ftp://t.example' }],
    [{ description: 'Über' }],
    [{ description: '' }],
    [{ description: null }],
    [{ url: 'https://example.com' }],
    [{ url: 'example.com' }],
    [{ signerName: 'ME' }],
    [{ output: 'signed/' }],
    [{ output: '' }],
    [{ concurrency: 8 }],
    [{ concurrency: '8' }],
    [{ concurrency: 0 }],
    [{ concurrency: 2.5 }],
    [{ maskFilename: 'hash' }],
    [{ maskFilename: 'all' }],
    [{ code: '1' }],
    [{ baseUrl: 'https://example.com' }],
    [{ algoritm: 'SHA256' }],
  ])('%j', async (content) => {
    await writeFile(join(folder, 'codesign-remote.config.json'), JSON.stringify(content));
    expect(await isTaken()).toBe(fits(content));
  });
});

/** By the file's reader, and where a value is used. */
async function isTaken(): Promise<boolean> {
  try {
    const project = await readProjectFile({ folder, home: folder });
    for (const [key, values] of project?.values ?? []) {
      for (const value of values) definitionOf(key).kind?.read({ value, name: key });
    }
    return true;
  } catch {
    return false;
  }
}

/** As this repository's formatter would have it: short lists on one line. */
function formatted(schema: object): string {
  const text = JSON.stringify(schema, undefined, 2);
  return `${text.replace(/\[\s+([^[\]{}]*?)\s+\]/g, (_all, inner: string) => `[${inner.replace(/\s*\n\s*/g, ' ')}]`)}\n`;
}
