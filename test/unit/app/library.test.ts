/** Arguments and listeners of the library, without a server. */

import { copyFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import * as library from '../../../src/index.ts';
import { fixture } from '../../support/programs/cli.ts';
import { folderForEach } from '../../support/set-up.ts';

const folder = folderForEach();

describe('onEvent', () => {
  it('breaks nothing when it throws or rejects', async () => {
    const path = folder.at('app.exe');
    await copyFile(fixture('golden/sha256-rsa2048.exe'), path);
    const run = new AbortController();
    const onEvent = ({ type }: library.SigningEvent): unknown => {
      if (type !== 'waiting-to-retry') return Promise.reject(new Error('broken listener'));
      run.abort();
      throw new Error('broken listener');
    };
    const timestampUrl = ['http://127.0.0.1:1'];
    const { files, warnings } = await library.timestampFiles({
      files: [path],
      timestampUrl,
      onEvent,
      signal: run.signal,
    });
    expect(files).toMatchObject([{ error: { code: 'not-attempted' } }]);
    expect(warnings).toEqual([expect.stringContaining('broken listener')]);
  });
});

describe('an option of JavaScript code', () => {
  const { signFiles, timestampFiles, removeSignatures, resume, history, verifyFile, verifyFiles } = library;
  const functions: Readonly<Record<string, (options: never) => unknown>> = {
    signFiles,
    timestampFiles,
    removeSignatures,
    resume,
    history: (options) => history(options).next(),
    verifyFile: (options) => verifyFile('app.exe', options),
    verifyFiles: (options) => verifyFiles([], options),
  };
  const call = (name: string, options: object): unknown => functions[name]?.(options as never);

  it.each([
    ['signFiles', 'descripton', 'Did you mean description? '],
    ['signFiles', 'onevent', 'Did you mean onEvent? '],
    ['signFiles', 'output', ''],
    ['signFiles', 'json', ''],
    ['timestampFiles', 'timestampURLs', 'Did you mean timestampUrl? '],
    ['removeSignatures', 'file', 'Did you mean files? '],
    ['resume', 'forgetUnkown', 'Did you mean forgetUnknown? '],
    ['history', 'limits', 'Did you mean limit? '],
    ['verifyFile', 'inside', ''],
    ['verifyFiles', 'polcy', 'Did you mean policy? '],
  ])('is rejected by %s if it is unknown: %s', async (name, key, suggestion) => {
    await expect(call(name, { [key]: undefined })).rejects.toMatchObject({
      code: 'setting-unknown',
      message: `${name} has no setting "${key}"`,
      hint: expect.stringMatching(new RegExp(`^${suggestion.replace('?', '\\?')}Known settings: `)),
    });
  });

  it.each([
    ['signFiles', { files: [], dryRun: 'false' }, 'dryRun: "…" is not true or false'],
    ['signFiles', { files: [], certificate: null }, 'certificate: "…" is not a list of texts'],
    ['signFiles', { files: [], description: {} }, 'description: "…" is not text or a number'],
    ['signFiles', { files: 'app.exe' }, 'files: "…" is not a list of paths, or of objects with path and output'],
    ['removeSignatures', { files: [{ path: 'app.exe' }] }, 'files: "…" is not'],
    ['timestampFiles', {}, 'files: "…" is not'],
    ['verifyFiles', { inside: 'no' }, 'inside: "…" is not true or false'],
  ])('is rejected by %s if its type is wrong: %o', async (name, options, message) => {
    await expect(call(name, options)).rejects.toMatchObject({
      code: 'invalid-setting',
      message: expect.stringContaining(message),
    });
  });
});
