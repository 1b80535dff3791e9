import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { projectSchema } from '../../../docs/generate/settings-schema.ts';
import { readProjectFile } from '../../../src/options/stored/project-file.ts';
import { definitionOf } from '../../../src/options/table.ts';
import { folderForAll } from '../../support/set-up.ts';

type Validate = (value: unknown) => boolean;
/** What conf validates with. */
const require = createRequire(createRequire(import.meta.url).resolve('conf'));
const { default: Ajv } = require('ajv') as { default: new (options: object) => { compile(schema: object): Validate } };

const folder = folderForAll();
const formats = { uri: (text: string) => URL.canParse(text) };
const fits = new Ajv({ formats }).compile(projectSchema());

it.each<object>([
  {},
  { $schema: 'x' },
  ...['SHA384', 'MD5', 256].map((algorithm) => ({ algorithm })),
  ...['http://t.example', ['http://t.example', 'https://u.example'], [], [1]].map((timestampUrl) => ({ timestampUrl })),
  { timestampUrl: 'ftp://t.example' },
  { timestampUrl: Array.from({ length: 33 }, () => 'http://t.example') },
  ...['Über', '', null].map((description) => ({ description })),
  ...['https://example.com', 'example.com'].map((url) => ({ url })),
  ...['signed/', ''].map((output) => ({ output })),
  ...[8, '8', 0, 2.5].map((concurrency) => ({ concurrency })),
  ...[true, 'true'].map((requireTimestamp) => ({ requireTimestamp })),
  { signerName: 'ME' },
  { fileName: 'hide' },
  { algoritm: 'SHA256' },
])('the schema of the project file accepts what the program accepts: %j', async (content) => {
  await writeFile(join(folder, 'codesign-remote.config.json'), JSON.stringify(content));
  expect(await isAccepted()).toBe(fits(content));
});

/** Whether the file can be read, and every value of it. */
async function isAccepted(): Promise<boolean> {
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
