/** What `verify` takes of hostile files, the other commands take too: each on every one of them. */

import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fixture, temporaryFolder } from '../../support/programs/cli.ts';
import { runMeasured } from '../../support/programs/measured-cli.ts';
import { ARCHIVE_CASES } from './archive-cases.ts';
import { type Bounds, expectBounded, expectSane, MOST_TIMES, measureTrivial } from './bounds.ts';
import type { HostileFile } from './cases.ts';
import { CERTIFICATE_CASES } from './certificate-cases.ts';
import { SIGNATURE_CASES } from './signature-cases.ts';
import { TABLE_CASES } from './table-cases.ts';
import { byName } from './verdicts.ts';

/** As an authority, it has nothing to say. */
let server: Server;
let authority: string;
let trivial: number;
beforeAll(async () => {
  server = createServer((_, response) => response.writeHead(404).end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  authority = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  trivial = await measureTrivial(fixture('golden/sha256-rsa2048.exe'));
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

/** `attach` has the signature in memory as it was given, and again as it is examined in the written file. */
const ATTACH_BOUNDS: Bounds = { times: MOST_TIMES, bytes: 165 * 1024 * 1024 };

async function expectAllCommands({ make }: HostileFile, extension: string): Promise<void> {
  await using folder = await temporaryFolder('codesign-hostile-');
  const path = join(folder.path, `hostile${extension}`);
  const output = join(folder.path, `output${extension}`);
  const cms = join(folder.path, 'cms');
  const bytes = make();
  await writeFile(path, bytes);
  const commands: readonly [args: readonly string[], exitCodes: readonly number[]][] = [
    [
      ['inspect', path, '--json'],
      [0, 6],
    ],
    [
      ['inspect', path, '--certificates'],
      [0, 6],
    ],
    [
      ['verify', path, '-v', '--integrity-only'],
      [0, 8],
    ],
    [
      ['extract', path, '--output', cms],
      [0, 6],
    ],
    [
      ['attach', path, cms, '--output', output, '--json'],
      [0, 6],
    ],
    [
      ['remove', path, '--output', output, '--json'],
      [0, 6],
    ],
    [
      ['timestamp', path, '-t', authority, '--output', output, '--json'],
      [0, 6, 7],
    ],
  ];
  for (const [args, exitCodes] of commands) {
    const run = await runMeasured(args);
    expectSane(run, exitCodes);
    expectBounded(run, trivial, args[0] === 'attach' ? ATTACH_BOUNDS : undefined);
  }
  expect(Buffer.compare(await readFile(path), bytes)).toBe(0);
}

describe('all commands answer on a program', () => {
  const files = [...SIGNATURE_CASES, ...CERTIFICATE_CASES, ...TABLE_CASES];
  it.each(byName(files))('with %s', (_, file) => expectAllCommands(file, '.exe'));
});

describe('all commands answer on an archive', () => {
  it.each(byName(ARCHIVE_CASES))('with %s', (_, file) => expectAllCommands(file, '.jar'));
});
