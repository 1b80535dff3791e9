/** NuGet packages, whose signature holds a time, as a user signs and changes them: the built program and a real server. */

import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runCli, temporaryFolder } from '../../../support/programs/cli.ts';
import { NO_AUTHORITY, resumeWith } from '../../../support/runs/resume-scene.ts';
import { useServer } from '../../../support/services/shared-server.ts';
import { GOOD_NUGET } from '../../../unit/formats/nuget/samples.ts';

it('are signed with one request although a run failed, verified, stamped, taken apart and put together again', async () => {
  await using folder = await temporaryFolder();
  const server = await useServer({ bits: 2048, tsa: true });
  try {
    const env = { ...server.env, CODESIGN_STATE_DIR: join(folder.path, 'state') };
    const packages = join(folder.path, 'packages');
    await mkdir(packages);
    const path = join(packages, 'one.nupkg');
    const original = GOOD_NUGET[0]?.bytes ?? Buffer.alloc(0);
    await writeFile(path, original);
    expect((await runCli(['sign', ...NO_AUTHORITY, path], { env })).code).toBe(7);
    // The time that is signed is that of the first run.
    expect(await resumeWith(env)).toMatchObject({ code: 0, calls: [{ status: 'finished' }] });
    expect(server.operations('sign')).toHaveLength(1);
    const stamped = await readFile(path);
    const check = (...more: string[]) => runCli(['verify', '--integrity-only', ...more, path]);
    expect((await check('--require-timestamp')).code).toBe(0);
    expect((await runCli(['inspect', path])).stdout).toMatch(/signature of\s+author/);

    expect((await runCli(['sign', '--append', path], { env })).stderr).toContain('cannot-append');
    expect((await runCli(['sign', '-a', 'SHA1', path], { env })).stderr).toContain('nuget-algorithm');
    expect(await readFile(path)).toEqual(stamped);

    const cms = join(folder.path, 'one.p7s');
    expect((await runCli(['extract', path, '-o', cms])).code).toBe(0);
    expect((await runCli(['remove', path])).code).toBe(0);
    expect(await readFile(path)).toEqual(original);
    expect((await runCli(['attach', path, cms])).code).toBe(0);
    expect(await readFile(path)).toEqual(stamped);

    await rm(path);
    for (const { name, bytes } of GOOD_NUGET) await writeFile(join(packages, name), bytes);
    expect((await runCli(['sign', '--no-timestamp', '--recursive', packages], { env })).code).toBe(0);
    for (const { name } of GOOD_NUGET) {
      const file = join(packages, name);
      expect((await runCli(['verify', '--integrity-only', file])).code).toBe(0);
      expect(await runCli(['timestamp', file], { env })).toMatchObject({ code: 0 });
      expect((await runCli(['verify', '--integrity-only', '--require-timestamp', file])).code).toBe(0);
    }
  } finally {
    await server.stop();
  }
});
