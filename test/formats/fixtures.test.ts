/** Holds fixtures/ equal to what its scripts write, and its README to both. */

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const committed = fileURLToPath(new URL('../../fixtures', import.meta.url));
const FOLDERS = ['pe', 'pe-malformed', 'strangers'];
let made: string;

beforeAll(() => {
  made = mkdtempSync(join(tmpdir(), 'fixtures-'));
  execFileSync(process.execPath, [join(committed, 'make-pe.mjs'), made]);
});
afterAll(() => rmSync(made, { recursive: true }));

describe('fixtures', () => {
  it('are what the script writes, byte for byte', () => {
    expect(snapshot(committed)).toEqual(snapshot(made));
  });

  it('are listed in the README with their SHA-256, one line each', () => {
    const readme = readFileSync(join(committed, 'README.md'), 'utf8');
    const listed = [...readme.matchAll(/^\| ([\w./-]+) \|.*\| `([0-9a-f]{64})` \|$/gm)].map(([, name, digest]) => [
      name,
      digest,
    ]);
    const present = Object.entries(snapshot(committed)).filter(([name]) => name.includes('/'));
    expect(Object.fromEntries(listed)).toEqual(Object.fromEntries(present));
  });

  it('are small', () => {
    for (const name of Object.keys(snapshot(committed)))
      expect(statSync(join(committed, name)).size).toBeLessThan(20_000);
  });
});

/** Path → SHA-256 of every file the script is answerable for. */
function snapshot(folder: string): Record<string, string> {
  const names = FOLDERS.flatMap((name) => readdirSync(join(folder, name)).map((file) => `${name}/${file}`));
  return Object.fromEntries(
    [...names, 'README.md', 'manifest.json'].sort().map((name) => [name, sha256(join(folder, name))]),
  );
}

function sha256(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}
