/** The administration commands before a server has data. */

import { access, mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SERVER_ERRORS } from '../../src/errors.ts';
import { adminCommand } from '../support/commands.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'codesign-init-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test('init creates the data once, without a client, and prints where', async () => {
  const place = join(folder, 'new');
  await mkdir(place);
  const first = await adminCommand(['init', '--data', place]);
  expect(first).toMatchObject({ code: 0, output: `${join(place, 'service')}\n`, errors: '' });
  const made = await stat(join(place, 'service', 'pin'));
  expect((await adminCommand(['init', '--data', place])).output).toBe(first.output);
  expect((await stat(join(place, 'service', 'pin'))).mtimeMs).toBe(made.mtimeMs);
  expect((await adminCommand(['client', 'list', '--data', place])).output).toBe('');
  expect((await adminCommand(['certificate', 'list', '--data', place])).output).toMatch(
    /^NUMBER .*\n1 +RSA 3072 +valid /,
  );
});

test('every command but init and certificate add requests data that are made', async () => {
  const place = join(folder, 'none');
  for (const args of [['client', 'list'], ['quota'], ['records'], ['export'], ['certificate', 'list']]) {
    const { code, errors } = await adminCommand([...args, '--data', place]);
    expect(code).toBe(2);
    expect(errors).toContain(SERVER_ERRORS['data-folder-not-made'].hint);
  }
  await expect(access(place)).rejects.toThrow();
});
