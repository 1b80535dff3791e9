/** File names that are not UTF-8, which only some systems have: Node.js cannot open them, so they are rejected by name. */

import { copyFileSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { resolveTarget } from '../../../../src/signing/files/target.ts';
import { fixture, parseJson, runCli, temporaryFolder } from '../../../support/programs/cli.ts';

/** The path as bytes, with one that is not UTF-8 instead of each `?`. */
const raw = (folder: string, name: string): Buffer =>
  Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(name.replaceAll('?', '\xff'), 'latin1')]);

describe.runIf(process.platform === 'linux')('a name that is not UTF-8', () => {
  it('is rejected by name in a folder, by a pattern, as an argument and through a link; other files are processed', async () => {
    await using folder = await temporaryFolder();
    const program = fixture('pe/hello.exe');
    mkdirSync(raw(folder.path, 'dir-?'));
    for (const name of ['bad-?.exe', 'dir-?/inside.exe', 'twin-?.exe']) copyFileSync(program, raw(folder.path, name));
    // The second has the name that Node.js shows for the one that is not UTF-8.
    for (const name of ['good.exe', 'twin-\ufffd.exe', 'real-\ufffd.exe'])
      copyFileSync(program, join(folder.path, name));
    symlinkSync(raw('.', 'bad-?.exe'), join(folder.path, 'link.exe'));
    const untouched = readdirSync(folder.path, { encoding: 'latin1' });

    const refused = ['bad-\ufffd.exe', 'dir-\ufffd', 'link.exe', 'twin-\ufffd.exe'];
    for (const args of [['--recursive', '.'], ['**/*.exe'], [...refused, 'good.exe', 'real-\ufffd.exe']]) {
      const run = await runCli(['remove', '--json', ...args], { cwd: folder.path });
      expect(run.code).toBe(6);
      const { files } = parseJson(run);
      const failed = files.filter(({ status }) => status === 'failed');
      // By a folder, links are not followed.
      const expected = refused.filter((name) => args[0] !== '--recursive' || name !== 'link.exe');
      expect(failed.map(({ path }) => path).sort()).toEqual(expected);
      for (const { error } of failed) {
        expect(error).toMatchObject({ code: 'name-not-utf8', message: expect.stringMatching(/^the name \S*\ufffd/) });
      }
      const others = files.filter(({ status }) => status === 'skipped').map(({ path }) => path);
      expect(others.sort()).toEqual(['good.exe', 'real-\ufffd.exe']);
    }
    expect(readdirSync(folder.path, { encoding: 'latin1' })).toEqual(untouched);
  });

  it('is rejected as the name of a result, and as a folder of it', async () => {
    await using folder = await temporaryFolder();
    for (const output of ['out-\ufffd.exe', 'out-\ufffd/a.exe']) {
      const refused = { code: 'name-not-utf8', message: expect.stringContaining('out-\ufffd') };
      await expect(resolveTarget(join(folder.path, output))).rejects.toMatchObject(refused);
    }
    copyFileSync(fixture('pe/hello.exe'), join(folder.path, 'real-\ufffd.exe'));
    expect(await resolveTarget(join(folder.path, 'real-\ufffd.exe'))).toContain('real-\ufffd.exe');
  });
});
