import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { folderForAll } from '../../support/set-up.ts';

const committed = fileURLToPath(new URL('../../../fixtures', import.meta.url));
const FOLDERS = ['pe', 'pe-malformed', 'jar', 'jar-malformed', 'jar-damaged', 'strangers'];
const made = folderForAll();

beforeAll(() => {
  execFileSync(process.execPath, [join(committed, 'make-fixtures.mjs'), made]);
});

describe('fixtures', () => {
  it('match the output of the script, byte for byte', () => {
    expect(snapshot(committed)).toEqual(snapshot(made));
  });

  it('have the README that its script writes', () => {
    const readme = execFileSync(process.execPath, [join(committed, 'make-readme.mjs'), '--print']).toString();
    expect(readFileSync(join(committed, 'README.md'), 'utf8')).toBe(readme);
  });
});

/** Path → SHA-256 of every file that make-fixtures.mjs is answerable for. */
function snapshot(folder: string): Record<string, string> {
  const names = [...FOLDERS.flatMap((name) => filesIn(folder, name)), 'manifest.json'];
  return Object.fromEntries(names.sort().map((name) => [name, sha256(join(folder, name))]));
}

function filesIn(folder: string, name: string): string[] {
  return readdirSync(join(folder, name)).map((file) => `${name}/${file}`);
}

function sha256(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}
