import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { folderForAll } from '../../support/set-up.ts';

const committed = fileURLToPath(new URL('../../../fixtures', import.meta.url));
const made = folderForAll();

beforeAll(() => {
  execFileSync(process.execPath, [join(committed, 'make-fixtures.mjs'), made]);
});

describe('fixtures', () => {
  it.each(['pe', 'pe-malformed', 'jar', 'jar-malformed', 'jar-damaged', 'strangers', 'manifest.json'])(
    'match the output of the script, byte for byte: %s',
    (name) => {
      const { stdout, status } = spawnSync('diff', ['-r', join(committed, name), join(made, name)]);
      expect([stdout.toString(), status]).toEqual(['', 0]);
    },
  );

  it('have the README that its script writes', () => {
    const readme = execFileSync(process.execPath, [join(committed, 'make-readme.mjs'), '--print']).toString();
    expect(readFileSync(join(committed, 'README.md'), 'utf8')).toBe(readme);
  });
});
