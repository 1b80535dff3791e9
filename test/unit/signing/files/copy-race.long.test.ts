/** Another user with access to the folder replaces the temporary file by links to another file, which must not change. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { toCodesignError } from '../../../../src/errors/codesign-error.ts';
import { openInput } from '../../../../src/files/input-file.ts';
import { stageCopy } from '../../../../src/signing/files/staged-copy.ts';
import { digestEntries } from '../../../../src/zip/entry-digests.ts';
import { temporaryFolder } from '../../../support/programs/cli.ts';

const ROUNDS = 200;
const SIZE = 1_500_000;
const ORIGINAL = Buffer.alloc(SIZE, 'original ');
const VICTIM = Buffer.alloc(SIZE, 'victim ');
const SIGNED = Buffer.concat([ORIGINAL, Buffer.from('SIGNED')]);

/** Puts a link to the victim instead of each temporary file that it sees; at the end it prints how often. */
const ATTACKER = `
import os, signal, sys
folder, victim = sys.argv[1:]
os.setgid(65534)
os.setuid(65534)
swaps = 0
def end(*_):
    print(swaps, flush=True)
    os._exit(0)
signal.signal(signal.SIGTERM, end)
print('ready', flush=True)
while True:
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if not name.endswith('.tmp') or os.path.islink(path):
            continue
        link = os.path.join(folder, 'link')
        try:
            os.symlink(victim, link) if swaps % 2 else os.link(victim, link)
        except PermissionError:
            os.symlink(victim, link)
        try:
            os.rename(link, path)
            swaps += 1
        except OSError:
            os.unlink(link)
`;

const isRoot = process.getuid?.() === 0;
if (!isRoot) console.log('left out without root, which alone acts as another user: a race for the temporary file');
describe.runIf(isRoot)('a temporary file in a folder that another user may write', () => {
  let parent: string;
  beforeEach(async () => {
    const made = await temporaryFolder('codesign-race-');
    parent = made.path;
    await chmod(parent, 0o755);
    return () => made[Symbol.asyncDispose]();
  });

  it(`becomes the file whole or not at all, and other files stay as they are, in ${ROUNDS} rounds`, async () => {
    const folder = join(parent, 'shared');
    const target = join(folder, 'app.exe');
    const victim = join(parent, 'victim');
    await mkdir(folder);
    await chmod(folder, 0o777);
    await writeFile(victim, VICTIM, { mode: 0o644 });
    const attacker = spawn('python3', ['-c', ATTACKER, folder, victim], { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(attacker, 'close');
    let said = '';
    attacker.stdout.setEncoding('utf8').on('data', (text) => {
      said += text;
    });
    await once(attacker.stdout, 'data');
    const outcomes = new Map<string, number>();
    try {
      for (let round = 0; round < ROUNDS; round++) {
        await rm(target, { force: true });
        await writeFile(target, ORIGINAL, { flag: 'wx', mode: 0o755 });
        const outcome = await sign(target, `round${round}`).then(
          () => 'signed',
          (thrown: unknown) => toCodesignError(thrown).code,
        );
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
        const { mode, uid } = await stat(victim);
        expect([round, mode & 0o777, uid]).toEqual([round, 0o644, 0]);
        expect((await readFile(victim)).equals(VICTIM)).toBe(true);
        if (outcome === 'signed') expect((await readFile(target)).equals(SIGNED)).toBe(true);
      }
    } finally {
      attacker.kill('SIGTERM');
      await ended;
    }
    expect(Number(said.split('\n')[1])).toBeGreaterThan(ROUNDS / 10);
    expect([...outcomes.keys()].filter((outcome) => outcome !== 'signed')).toEqual(['copy-changed']);
    expect(await readdir(parent)).toContain('victim');
  });
});

async function sign(target: string, name: string): Promise<void> {
  await using input = await openInput(target);
  await using copy = await stageCopy({
    ...{ source: input.source, stats: input.stats, target },
    ...{ randomName: () => name, digestEntries, temporaryFiles: new Set(), onEvent: () => undefined },
  });
  await copy.reader.measure(input.source, [{ start: 0, end: SIZE }], ['SHA256']);
  await copy.apply([{ offset: SIZE, remove: 0, insert: [Buffer.from('SIGNED')] }]);
  await copy.flush();
  await copy.replaceTarget({ isNew: false, assertUnchanged: () => undefined });
}
