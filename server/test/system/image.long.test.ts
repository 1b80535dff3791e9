/**
 * Builds and runs the container image where podman or docker can get its base image. CODESIGN_TEST_BASE_IMAGE names another base
 * with Node.js and npm, for a machine that reaches no registry of images. Elsewhere the test says that it was left out.
 */

import { execFile, spawnSync } from 'node:child_process';
import { request } from 'node:https';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const BASE = process.env.CODESIGN_TEST_BASE_IMAGE ?? 'docker.io/library/node:22-bookworm-slim';
const IMAGE = `codesign-remote-server-test-${process.pid}`;
const run = promisify(execFile);

/** The container program that has or gets the base image; undefined if none was found. */
const runtime = ['podman', 'docker'].find((program) => {
  const has = spawnSync(program, ['image', 'inspect', BASE], { timeout: 30_000 }).status === 0;
  return has || spawnSync(program, ['pull', BASE], { timeout: 60_000 }).status === 0;
});
if (runtime === undefined) console.log(`left out: neither podman nor docker can get ${BASE}, so no image is built`);

function statusOf(url: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    const call = request(url, { rejectUnauthorized: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    call.once('error', () => resolve(undefined)).end();
  });
}

test.skipIf(runtime === undefined)('the image builds, and its server becomes ready and ends on SIGTERM', async () => {
  const program = runtime ?? '';
  const build = [
    'build',
    '--network=host',
    '--build-arg',
    `BASE=${BASE}`,
    '-f',
    'server/deploy/Containerfile',
    '-t',
    IMAGE,
  ];
  await run(program, [...build, '.'], { cwd: ROOT, maxBuffer: 64 * 1024 * 1024 });
  try {
    const name = `${IMAGE}-run`;
    await run(program, [
      'run',
      '--detach',
      '--name',
      name,
      '--network=host',
      IMAGE,
      'start',
      '--port',
      '18443',
      '--client-env',
      '/data/client.env',
    ]);
    try {
      for (let tries = 0; tries < 300 && (await statusOf('https://127.0.0.1:18443/readyz')) !== 200; tries++) {
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
      const { stdout: log } = await run(program, ['logs', name]);
      expect([await statusOf('https://127.0.0.1:18443/readyz'), log]).toEqual([
        200,
        expect.stringContaining('listening on'),
      ]);
      const { stdout: user } = await run(program, ['exec', name, 'id', '--user']);
      expect(user.trim()).toBe('10001');
      await run(program, ['stop', '--time', '15', name]);
      const { stdout: code } = await run(program, ['inspect', '--format', '{{.State.ExitCode}}', name]);
      expect(code.trim()).toBe('0');
    } finally {
      await run(program, ['rm', '--force', name]);
    }
  } finally {
    await run(program, ['rmi', '--force', IMAGE]);
  }
});
