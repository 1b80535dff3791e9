/** Changes with an authority in this process, for steps that a test of the command line cannot time. */

import { appendFile, chmod, readFile, unlink, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { CodesignError } from '../../../src/errors/codesign-error.ts';
import type { Format } from '../../../src/format/format.ts';
import type { SignableFile } from '../../../src/format/signable-file.ts';
import { jar } from '../../../src/formats/jar/index.ts';
import { formats } from '../../../src/formats/registry.ts';
import { removeSignatures } from '../../../src/signing/changes/remove.ts';
import { timestampFiles } from '../../../src/signing/changes/timestamp.ts';
import type { Run } from '../../../src/signing/run.ts';
import type { Stamped } from '../../../src/timestamp/authorities.ts';
import { fixture, snapshot } from '../../support/programs/cli.ts';
import { startTimestampAuthority } from '../../support/services/timestamp-authority.ts';
import { folderForEach, forAll } from '../../support/set-up.ts';
import { copyInto } from '../../support/signed-files/signed-files.ts';
import { applyPatch } from '../formats/support/apply-patch.ts';
import { stampIn } from '../formats/support/change.ts';
import { openBytes } from '../formats/support/sign-bytes.ts';
import { testRun } from './signing-run.ts';

const authority = await forAll(startTimestampAuthority());

const folder = folderForEach();

/** `before` runs during the call of the authority; an error that it throws is the authority's failure. */
function timestamping(before: (call: number) => Promise<unknown> = async () => undefined, force = false) {
  let asked = 0;
  const stamp = async (value: Uint8Array): Promise<Stamped> => {
    await before(++asked);
    return { token: await authority.stamp(value), time: new Date(), authority: 'here' };
  };
  const authorities = { stamp };
  const how = { authorities, algorithm: 'SHA256', force } as const;
  const change: Change = (paths, run, signal) => timestampFiles(paths, how, run, signal);
  return { change, asked: () => asked };
}

type Change = typeof removeSignatures;

/** Changes the files in place. Returns the status or the error code of each. */
async function changeFiles(paths: readonly string[], change: Change, more: Partial<Run> = {}) {
  const files = paths.map((path) => ({ path, output: path }));
  const result = await change(files, { ...testRun(), ...more });
  return result.files.map((file) => (file.status === 'failed' ? file.error.code : file.status));
}

const copies = (count: number) =>
  Promise.all(
    Array.from({ length: count }, (_, index) =>
      copyInto(folder.path, fixture('golden/sha256-rsa2048.exe'), `app-${index}.exe`),
    ),
  );

describe('a file that changes while it is being changed', () => {
  it.each<[string, string, (path: string) => Promise<unknown>]>([
    ['grows', 'file-changed', (path) => appendFile(path, 'more')],
    ['goes away', 'file-not-found', (path) => unlink(path)],
    ['loses its rights', 'file-changed', (path) => chmod(path, 0o444)],
  ])('and %s is left as it is then', async (_, code, spoil) => {
    const [path = ''] = await copies(1);
    let then: unknown;
    const { change } = timestamping(async () => {
      await spoil(path);
      // Next to the temporary file, which is removed.
      const there = Object.entries(await snapshot(folder.path));
      then = Object.fromEntries(there.filter(([name]) => !name.endsWith('.tmp')));
    });
    expect(await changeFiles([path], change)).toEqual([code]);
    expect(await snapshot(folder.path)).toEqual(then);
  });

  it('is not begun when it changed before its turn', async () => {
    const paths = await copies(2);
    const { change, asked } = timestamping(() => appendFile(paths[1] ?? '', 'more'));
    expect(await changeFiles(paths, change, { concurrency: 1 })).toEqual(['timestamped', 'file-changed']);
    expect(asked()).toBe(1);
  });
});

function formatsThat(spoil: (file: SignableFile) => Partial<SignableFile>): readonly Format[] {
  const spoiled = (file: SignableFile): SignableFile => ({ ...file, ...spoil(file) });
  return formats.map((format) => ({
    ...format,
    open: async (source, reader, name) => spoiled(await format.open(source, reader, name)),
  }));
}

it('a format whose result still holds a signature is rejected', async () => {
  const [path = ''] = await copies(1);
  const before = await snapshot(folder.path);
  const lazy = formatsThat((file) => ({ removing: file.removing && { ...file.removing, patch: async () => [] } }));
  expect(await changeFiles([path], removeSignatures, { formats: lazy })).toEqual(['result-damaged']);
  expect(await snapshot(folder.path)).toEqual(before);
});

it('a JAR signed with SHA-1 keeps its old timestamp: with a new one, Java would treat it as unsigned', async () => {
  const path = folder.at('old.jar');
  const result = await readFile(fixture('golden/sha1-rsa2048.jar'));
  const file = await openBytes(jar, result);
  const [signature] = await file.signatures();
  if (signature === undefined) throw new Error('the file is unsigned');
  const value = signature.value ?? new Uint8Array();
  const token = await authority.stamp(value, { genTime: '20180601120000Z' });
  await writeFile(path, applyPatch(result, (await stampIn(file, new Map([[signature, token]]))).patch));
  const before = await snapshot(folder.path);
  expect(await changeFiles([path], timestamping().change)).toEqual(['skipped']);
  expect(await changeFiles([path], timestamping(undefined, true).change)).toEqual(['timestamp-breaks-signature']);
  expect(await snapshot(folder.path)).toEqual(before);
});

it('a run over several files continues after a failure of authorities that have given a timestamp before', async () => {
  const paths = await copies(3);
  const { change } = timestamping(async (call) => {
    if (call === 2) throw new CodesignError({ code: 'timestamp-failed', category: 'timestamp', message: 'no' });
  });
  const outcomes = await changeFiles(paths, change, { concurrency: 1 });
  expect(outcomes).toEqual(['timestamped', 'timestamp-failed', 'timestamped']);
});
