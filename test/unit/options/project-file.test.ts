/** The project's file: where it is looked for, who may have written it, and what it may not say. */

import { chown, mkdir, realpath, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, test } from 'vitest';
import { readProjectFile } from '../../../src/options/stored/project-file.ts';
import { folderForAll } from '../../support/set-up.ts';

const NAME = 'codesign-remote.config.json';

const root = await realpath(folderForAll());

let home = '';
let project = '';
let below = '';
let count = 0;
beforeEach(async () => {
  count += 1;
  home = join(root, `${count}`, 'home');
  project = join(home, 'pröject');
  below = join(project, 'a', 'b');
  await mkdir(below, { recursive: true });
});

const read = (folder: string) => readProjectFile({ folder, home });
const write = (folder: string, content: object | string) =>
  writeFile(join(folder, NAME), typeof content === 'string' ? content : JSON.stringify(content));
const algorithmFrom = async (folder: string) => (await read(folder))?.values.get('algorithm')?.[0];

describe('is searched for', () => {
  it('in the working folder, then upward; the nearest counts', async () => {
    await write(project, { algorithm: 'SHA384' });
    expect(await algorithmFrom(below)).toBe('SHA384');
    await write(below, { algorithm: 'SHA512' });
    expect(await algorithmFrom(below)).toBe('SHA512');
    expect(await algorithmFrom(join(project, 'a'))).toBe('SHA384');
  });

  it.each(['folder', 'file'])("no further than the repository's root, whose .git is a %s", async (kind) => {
    await write(home, { algorithm: 'SHA384' });
    expect(await algorithmFrom(below)).toBe('SHA384');
    if (kind === 'folder') await mkdir(join(project, '.git'));
    else await writeFile(join(project, '.git'), 'gitdir: elsewhere');
    expect(await algorithmFrom(below)).toBeUndefined();
    await write(project, { algorithm: 'SHA512' });
    expect(await algorithmFrom(below)).toBe('SHA512');
  });

  it('no further than the home folder', async () => {
    await write(join(home, '..'), { algorithm: 'SHA384' });
    expect(await algorithmFrom(below)).toBeUndefined();
    await write(home, { algorithm: 'SHA512' });
    expect(await algorithmFrom(below)).toBe('SHA512');
  });

  it('only in the working folder if neither is above', async () => {
    const elsewhere = join(root, `${count}`, 'elsewhere', 'a');
    await mkdir(elsewhere, { recursive: true });
    await write(join(elsewhere, '..'), { algorithm: 'SHA384' });
    expect(await algorithmFrom(elsewhere)).toBeUndefined();
    await write(elsewhere, { algorithm: 'SHA512' });
    expect(await algorithmFrom(elsewhere)).toBe('SHA512');
  });
});

it('holds what a project may say, as text, with paths from its own folder', async () => {
  const texts = { algorithm: 'sha-384', description: 'e\u0301', url: 'https://example.com', signerName: 'ME' };
  const timestampUrl = ['http://t.example', 'http://u.example'];
  const whole = { $schema: './schema.json', ...texts, timestampUrl, concurrency: 8, output: 'signed/' };
  await write(project, `\uFEFF${JSON.stringify(whole)}`);
  const { path, values = [] } = (await read(below)) ?? {};
  expect(path).toBe(join(project, NAME));
  expect(Object.fromEntries(values)).toEqual({
    ...Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, [text]])),
    ...{ timestampUrl, concurrency: ['8'], output: [join(project, 'signed/')] },
  });
});

describe('may not contain', () => {
  test.each([
    [['baseUrl', 'environment', 'environments', 'profile', 'proxy'], /credentials go/],
    [['caFile', 'timestampRoots'], /trusts/],
    [['code', 'certificate'], /which certificate/],
    [['timeout', 'maxSignatures', 'fileName', 'extra'], /the user who signs/],
  ])('%j', async (keys, why) => {
    for (const key of keys) {
      await write(project, { algorithm: 'SHA256', [key]: 'x' });
      const message = expect.stringMatching(why);
      await expect(read(below)).rejects.toMatchObject({ code: 'project-setting-refused', category: 'usage', message });
    }
  });

  it('an unknown key: a similar one is suggested', async () => {
    await write(project, { timestampUrls: 'http://t.example' });
    const message = expect.stringContaining(join(project, NAME));
    const hint = expect.stringContaining('Did you mean timestampUrl?');
    await expect(read(below)).rejects.toMatchObject({ code: 'setting-unknown', message, hint });
  });

  it.each(['accessSecret', 'ACCESS_KEY', 'certificatePassword', 'npmToken'])('a secret: %s', async (key) => {
    await write(project, { [key]: 's3cret' });
    const error = await read(below).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'setting-is-secret', hint: expect.stringContaining('login') });
    expect(String(error)).not.toContain('s3cret');
  });

  it.each(['../elsewhere', '/etc/passwd', 'a/../../x', '..'])('an output outside its folder: %s', async (output) => {
    await write(project, { output });
    await expect(read(below)).rejects.toMatchObject({ code: 'settings-file-damaged' });
  });
});

describe('is rejected', () => {
  test.each([
    ['  \n', /is empty/],
    ['{"algorithm": "SHA256",\n  }', /line 2, column 3$/],
    ['{\n  "concurrency": tru}', /is not JSON( from line 2, column \d+)?$/],
    ['"SHA256"', /not contain a JSON object/],
    ['{"concurrency": "8"}', /"concurrency" is not a number/],
    ['{"timestampUrl": []}', /"timestampUrl" is not text in quotes, or a list/],
    ['{"description": "a\\u0000b"}', /"description" contains a NUL character$/],
    ['{"output": "a\\ud800b"}', /"output" contains half of a surrogate pair$/],
    [`{"timestampUrl": ["${'a'.repeat(4097)}"]}`, /"timestampUrl" is longer than 4096 characters$/],
  ])('with %j in it', async (content, problem) => {
    await write(project, content);
    const message = expect.stringMatching(problem);
    await expect(read(below)).rejects.toMatchObject({ code: 'settings-file-damaged', category: 'usage', message });
  });

  it('without quoting what a link leads to', async () => {
    await writeFile(join(home, 'private'), 's3cret');
    await symlink(join(home, 'private'), join(project, NAME));
    const error = await read(below).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'settings-file-damaged' });
    expect(String(error)).not.toContain('s3c');
  });

  it.skipIf(process.getuid?.() !== 0)('when another user owns it, to root too', async () => {
    await write(project, { algorithm: 'SHA512' });
    await chown(join(project, NAME), 12_345, 12_345);
    const message = expect.stringContaining('another user');
    await expect(read(below)).rejects.toMatchObject({ code: 'settings-file-exposed', message });
  });
});
