/** What the library does with its own arguments, without a server. */

import { copyFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { type SigningEvent, timestampFiles } from '../../../src/index.ts';
import { fixture } from '../../support/programs/cli.ts';
import { folderForEach } from '../../support/set-up.ts';

const folder = folderForEach();

describe('onEvent', () => {
  it('breaks nothing when it throws or rejects', async () => {
    const path = folder.at('app.exe');
    await copyFile(fixture('golden/sha256-rsa2048.exe'), path);
    const run = new AbortController();
    const onEvent = ({ type }: SigningEvent): unknown => {
      if (type !== 'waiting-to-retry') return Promise.reject(new Error('broken listener'));
      run.abort();
      throw new Error('broken listener');
    };
    const timestampUrl = ['http://127.0.0.1:1'];
    const { files, warnings } = await timestampFiles({ files: [path], timestampUrl, onEvent, signal: run.signal });
    expect(files).toMatchObject([{ error: { code: 'not-attempted' } }]);
    expect(warnings).toEqual([expect.stringContaining('broken listener')]);
  });
});
