/** The reference names every command, option, variable and setting of the server, and no other. */

import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { folderForEach } from '../../../test/support/set-up.ts';
import { readConfig } from '../../src/config.ts';
import { allCommands } from '../support/commands.ts';

const folder = folderForEach();

const SERVER = fileURLToPath(new URL('../..', import.meta.url));
const REFERENCE = readFileSync(join(SERVER, 'docs/reference.md'), 'utf8');

const COMMANDS = allCommands();
const optionsOf = (command: Command) => command.options.map(({ long }) => long ?? '');
const GENERAL = ['--config', '--data', '--database', '--pkcs11-library', '--pkcs11-token', '--pkcs11-pin-file'];
const OF_RECORDS = ['--client', '--certificate', '--since', '--until'];

test.each(COMMANDS.filter(([name]) => name !== 'start'))('names %s with its own options', (name, command) => {
  const row =
    REFERENCE.split('\n').find((line) => line.startsWith('| `') && line.split(' | ')[0]?.includes(`\`${name}`)) ?? '';
  const [cell = ''] = row.split(' | ');
  expect(cell).toContain(`\`${name}`);
  const shared = ['records list', 'export'].includes(name) ? OF_RECORDS : [];
  const own = optionsOf(command).filter((option) => ![...GENERAL, ...shared].includes(option));
  for (const option of own) expect(cell).toContain(option);
  for (const option of [...GENERAL, ...shared]) expect(optionsOf(command)).toContain(option);
});

test('has a row for each option of start, and no other row', () => {
  const [, table = ''] = REFERENCE.split('| option | environment | default | meaning |\n');
  const rows = table.slice(0, table.indexOf('\n\n')).split('\n');
  const named = rows.flatMap((row) =>
    [...(row.split(' | ')[0] ?? '').matchAll(/--[a-z][a-z\d-]*/g)].map(([option]) => option),
  );
  const [, start] = COMMANDS.find(([name]) => name === 'start') ?? [];
  expect(named.sort()).toEqual(optionsOf(start as Command).sort());
});

test('names every variable that the source reads', () => {
  const sources = readdirSync(join(SERVER, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join(SERVER, 'src', name), 'utf8'));
  const variables = new Set(sources.flatMap((text) => text.match(/CODESIGN_SERVER_[A-Z\d_]*[A-Z\d]\b/g) ?? []));
  expect(variables.size).toBeGreaterThan(8);
  expect([...variables].filter((name) => !REFERENCE.includes(`\`${name}`))).toEqual([]);
});

test('shows a valid configuration file with every setting', async () => {
  const [, json = ''] = /```json\n(.*?)```/s.exec(REFERENCE) ?? [];
  const path = folder.at('server.json');
  await writeFile(path, json);
  const { clientEnv, ...settings } = readConfig({ config: path }, {});
  expect(clientEnv).toBeUndefined(); // the one that is of a single start
  expect(Object.entries(settings).filter(([, value]) => value === undefined)).toEqual([]);
});
