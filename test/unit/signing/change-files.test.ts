/** The walk of changes with an authority of this process: what a test of the command line cannot time. Files and formats are real. */

import { appendFile, chmod, readFile, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { CodesignError } from '../../../src/errors/codesign-error.ts';
import type { Format } from '../../../src/format/format.ts';
import type { SignableFile } from '../../../src/format/signable-file.ts';
import { jar } from '../../../src/formats/jar/index.ts';
import { formats } from '../../../src/formats/registry.ts';
import { removeSignatures } from '../../../src/signing/changes/remove.ts';
import { timestampFiles } from '../../../src/signing/changes/timestamp.ts';
import type { ChangeFilesResult, FileToSign } from '../../../src/signing/outcome.ts';
import type { Disk, Run } from '../../../src/signing/run.ts';
import type { Stamped } from '../../../src/timestamp/authorities.ts';
import { fixture, snapshot, temporaryFolder } from '../../support/programs/cli.ts';
import { startTimestampAuthority } from '../../support/services/timestamp-authority.ts';
import { forAll } from '../../support/set-up.ts';
import { copyInto, makeSignedFiles } from '../../support/signed-files/signed-files.ts';
import { applyPatch } from '../formats/support/apply-patch.ts';
import { stampIn } from '../formats/support/change.ts';
import { openBytes } from '../formats/support/sign-bytes.ts';
import { testRun } from './signing-run.ts';

const [files, authority] = await Promise.all([forAll(makeSignedFiles()), forAll(startTimestampAuthority())]);

let folder: string;
beforeEach(async () => {
  const made = await temporaryFolder('codesign-change-');
  folder = made.path;
  return () => made[Symbol.asyncDispose]();
});

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
type Changing = Run & { readonly change: Change };

function changingWith(change: Change, more: Partial<Run & Disk> = {}): Changing {
  const run = testRun();
  const disk = { ...run.disk, temporaryFiles: more.temporaryFiles ?? new Set<string>() };
  return { ...run, onEvent: () => undefined, ...more, disk, change };
}

const changeFiles = (files: readonly FileToSign[], { change, ...run }: Changing, signal?: AbortSignal) =>
  change(files, run, signal);

const copies = (count: number) =>
  Promise.all(Array.from({ length: count }, (_, index) => copyInto(folder, files.exe, `app-${index}.exe`)));
const inPlace = (paths: readonly string[]) => paths.map((path) => ({ path, output: path }));
const wordsOf = (result: ChangeFilesResult) =>
  result.files.map((file) => (file.status === 'failed' ? file.error.code : file.status));
const failure = () => new CodesignError({ code: 'timestamp-failed', category: 'timestamp', message: 'no' });

describe('a file that changes while it is being changed', () => {
  it.each<[string, string, (path: string) => Promise<unknown>]>([
    ['grows', 'file-changed', (path) => appendFile(path, 'more')],
    [
      'is replaced by the same bytes',
      'file-changed',
      async (path) => {
        const bytes = await readFile(path);
        await unlink(path);
        await writeFile(path, bytes);
      },
    ],
    ['goes away', 'file-not-found', (path) => unlink(path)],
    ['loses its rights', 'file-changed', (path) => chmod(path, 0o444)],
  ])('and %s is left as it is then', async (_, code, spoil) => {
    const [path = ''] = await copies(1);
    let then: unknown;
    const { change } = timestamping(async () => {
      await spoil(path);
      // Next to the temporary file, which is removed.
      const there = Object.entries(await snapshot(folder));
      then = Object.fromEntries(there.filter(([name]) => !name.endsWith('.tmp')));
    });
    expect(wordsOf(await changeFiles(inPlace([path]), changingWith(change)))).toEqual([code]);
    expect(await snapshot(folder)).toEqual(then);
  });

  it('is not begun when it changed before its turn', async () => {
    const paths = await copies(2);
    const { change, asked } = timestamping(() => appendFile(paths[1] ?? '', 'more'));
    const result = await changeFiles(inPlace(paths), changingWith(change, { concurrency: 1 }));
    expect([wordsOf(result), asked()]).toEqual([['timestamped', 'file-changed'], 1]);
  });
});

describe('a result that differs from the plan', () => {
  /** As the real format, except for what it gives as edits. */
  function formatsThat(spoil: (file: SignableFile) => Partial<SignableFile>): readonly Format[] {
    const spoiled = (file: SignableFile): SignableFile => ({ ...file, ...spoil(file) });
    return formats.map((format) => ({
      ...format,
      open: async (source, reader, name) => spoiled(await format.open(source, reader, name)),
    }));
  }

  it('still holds a signature: rejected', async () => {
    const [path = ''] = await copies(1);
    const before = await snapshot(folder);
    const lazy = formatsThat((file) => ({ removing: file.removing && { ...file.removing, patch: async () => [] } }));
    const result = await changeFiles(inPlace([path]), changingWith(removeSignatures, { formats: lazy }));
    expect(wordsOf(result)).toEqual(['result-damaged']);
    expect(await snapshot(folder)).toEqual(before);
  });

  it('holds another timestamp than the one requested: rejected', async () => {
    const [path = ''] = await copies(1);
    const before = await snapshot(folder);
    const other = await authority.stamp(Buffer.from('other'));
    const confused = formatsThat((file) => ({
      stamping: {
        of: 'each-signature',
        stamp: (tokens) => stampIn(file, new Map(Array.from(tokens.keys(), (location) => [{ location }, other]))),
      },
    }));
    const result = await changeFiles(inPlace([path]), changingWith(timestamping().change, { formats: confused }));
    expect(wordsOf(result)).toEqual(['result-damaged']);
    expect(await snapshot(folder)).toEqual(before);
  });
});

it('a JAR signed with SHA-1 whose timestamp is of the time when Java took that keeps it, even with --force: with another one, Java would treat the file as unsigned', async () => {
  const path = join(folder, 'old.jar');
  const result = await readFile(fixture('golden/sha1-rsa2048.jar'));
  const file = await openBytes(jar, result);
  const [signature] = await file.signatures();
  if (signature === undefined) throw new Error('the file is unsigned');
  const value = signature.value ?? new Uint8Array();
  const token = await authority.stamp(value, { genTime: '20180601120000Z' });
  await writeFile(path, applyPatch(result, (await stampIn(file, new Map([[signature, token]]))).patch));
  const before = await snapshot(folder);
  expect(wordsOf(await changeFiles(inPlace([path]), changingWith(timestamping().change)))).toEqual(['skipped']);
  const { change } = timestamping(undefined, true);
  expect(wordsOf(await changeFiles(inPlace([path]), changingWith(change)))).toEqual(['timestamp-breaks-signature']);
  expect(await snapshot(folder)).toEqual(before);
});

it('a run over several files continues after a failure of authorities that have given a timestamp before', async () => {
  const paths = await copies(3);
  const { change } = timestamping(async (call) => {
    if (call === 2) throw failure();
  });
  const result = await changeFiles(inPlace(paths), changingWith(change, { concurrency: 1 }));
  expect(wordsOf(result)).toEqual(['timestamped', 'timestamp-failed', 'timestamped']);
});
