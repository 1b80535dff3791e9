/** Packages in a bundle, which are signed before the bundle. */

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { FormatOptions } from '../../../../src/format/options.ts';
import { appx } from '../../../../src/formats/appx/index.ts';
import type { Journal } from '../../../../src/journal/journal.ts';
import type { FileOutcome } from '../../../../src/signing/outcome.ts';
import { writeFiles } from '../../../../src/signing/resume/write-files.ts';
import type { SigningJournal } from '../../../../src/signing/service/account.ts';
import { withoutJournal } from '../../../../src/signing/service/call.ts';
import { signFiles } from '../../../../src/signing/sign-files.ts';
import { createTimestampDesk } from '../../../support/services/timestamp-desk.ts';
import { makeTimestampPki } from '../../../support/services/timestamp-pki.ts';
import { forEach } from '../../../support/set-up.ts';
import { makeBundle, makePackage } from '../../formats/appx/samples.ts';
import { codesOf } from '../../formats/support/is-intact.ts';
import { openBytes } from '../../formats/support/sign-bytes.ts';
import { historyOf } from '../../journal/support/setting.ts';
import { journalScene } from '../journal-scene.ts';
import type { FlatSigning } from '../signing-run.ts';

const publisher = 'CN=Signing Publisher';
const packageOf = (name: string) => makePackage({ publisher, files: [{ name, contents: name.repeat(30) }] });
const BUNDLE = makeBundle(packageOf('a'), {
  publisher,
  more: ['b', 'c'].map((name) => ({ name: `${name}.msix`, bytes: packageOf(name) })),
});

const formatOptions: FormatOptions = { innerPackages: true };

const desk = createTimestampDesk(makeTimestampPki());

const scene = forEach(journalScene);
let path: string;
beforeEach(async () => {
  path = join(scene.folder, 'app.msixbundle');
  await writeFile(path, BUNDLE);
});

/** Fails after `until` timestamps. */
function authorities(until = Number.POSITIVE_INFINITY) {
  let count = 0;
  return {
    get count() {
      return count;
    },
    stamp: async (signature: unknown) => {
      if (count === until) throw new Error('no timestamp');
      count += 1;
      const token = await desk.stamp(signature as Uint8Array);
      return { token, time: new Date('2026-11-21T10:00:00Z'), authority: 'https://tsa.example' };
    },
  };
}

async function run(more: FlatSigning = {}, output = path): Promise<FileOutcome | undefined> {
  const signing = scene.signing(await scene.open(), { formatOptions, ...more });
  return (await signFiles([{ path, output }], signing)).files[0];
}

async function resume(more: FlatSigning): Promise<FileOutcome | undefined> {
  const journal = await scene.open();
  const calls = (await journal.unfinished()).filter(({ kind }) => kind === 'unwritten');
  const create = (_: unknown, known: SigningJournal) => scene.signing(known, { formatOptions, ...more });
  const outcomes = await writeFiles(calls, journal, create, undefined);
  await journal.close();
  return outcomes.get(path);
}

async function requireSigned(file: string): Promise<void> {
  const opened = await openBytes(appx, await readFile(file));
  expect(await opened.examine()).toEqual([]);
  expect(await codesOf((await opened.signatures())[0])).toEqual([]);
}

describe('a bundle with three packages', () => {
  it('takes four requests, four entries and four reports', async () => {
    await expect(run({ maxSignatures: 3 })).rejects.toMatchObject({ code: 'too-many-signatures' });
    expect(scene.service.asked).toBe(0);
    const journal = await scene.open();
    const signing = scene.signing(journal, { formatOptions, maxSignatures: 4 });
    const { files } = await signFiles([{ path, output: path }], signing);
    expect(files[0]).toMatchObject({
      status: 'signed',
      record: 'record-4',
      reported: true,
      inner: [
        { name: 'app.msix', algorithm: 'SHA256', record: 'record-1', reused: false, timestamp: null },
        { name: 'b.msix', record: 'record-2' },
        { name: 'c.msix', record: 'record-3' },
      ],
    });
    expect(scene.service.reports.map(([, status]) => status)).toEqual([1, 1, 1, 1]);
    const names = ['', 'app.msix', 'b.msix', 'c.msix'];
    expect(new Set((await historyOf(journal)).map(({ file }) => file))).toEqual(
      new Set(names.map((name) => join(path, name))),
    );
    expect(await journal.unfinished()).toEqual([]);
    await requireSigned(path);
  });

  it('without a journal gives all signatures up if the last one does not match, each under its own record', async () => {
    const { sign } = scene.service;
    scene.service.sign = async (request) => {
      const given = await sign(request);
      return scene.service.asked < 4 ? given : { ...given, signature: given.signature.toReversed() };
    };
    const signing = scene.signing(withoutJournal, { formatOptions });
    expect((await signFiles([{ path, output: path }], signing)).files).toMatchObject([
      { status: 'failed', error: { code: 'signature-mismatch' }, record: 'record-4', kept: false },
    ]);
    const givenUp = [1, 2, 3, 4].map((number) => [`record-${number}`, 2]);
    expect(scene.service.reports.toSorted()).toEqual(givenUp);
    expect(await readFile(path)).toEqual(BUNDLE);
  });

  it.each([1, 3])('takes those from the journal that a run got which failed after %s', async (before) => {
    scene.service.before = async () => {
      if (scene.service.asked > before) throw new Error('no answer');
    };
    expect(await run()).toMatchObject({ status: 'failed', kept: before > 0 });
    expect(await readFile(path)).toEqual(BUNDLE);
    const asked = scene.service.asked;
    scene.service.before = async () => undefined;
    expect(await run()).toMatchObject({ status: 'signed' });
    expect(scene.service.asked).toBe(asked + 4 - before);
    await requireSigned(path);
  });

  it('is the same in every run, with the timestamps of the first one in its packages', async () => {
    const first = authorities();
    expect(await run({ authorities: first }, join(scene.folder, 'first.msixbundle'))).toMatchObject({
      inner: [{ timestamp: '2026-11-21T10:00:00Z' }, {}, {}],
    });
    const second = authorities();
    await run({ authorities: second }, join(scene.folder, 'second.msixbundle'));
    expect([first.count, second.count, scene.service.asked]).toEqual([4, 1, 4]);
    await requireSigned(join(scene.folder, 'second.msixbundle'));
  });

  it('is finished by resume if all its signatures were requested, and only then', async () => {
    await run({ authorities: authorities(1) });
    expect(await resume({ authorities: authorities() })).toMatchObject({ error: { code: 'signatures-missing' } });
    await run({ authorities: authorities(1) });
    expect(scene.service.asked).toBe(4);
    expect(await resume({ authorities: authorities() })).toMatchObject({ status: 'signed', reused: true });
    expect(scene.service.asked).toBe(4);
    expect(await (await scene.open()).unfinished()).toEqual([]);
    await requireSigned(path);
  });

  it.each(['sign', 'resume'])('is recorded as written by %s if the run that wrote it could not', async (how) => {
    const journal = await scene.open();
    const killed: Journal = {
      ...journal,
      async claim(asking) {
        const claim = await journal.claim(asking);
        return claim && { ...claim, written: () => claim.notWritten('killed') };
      },
    };
    const stamped = { authorities: authorities() };
    await signFiles([{ path, output: path }], scene.signing(killed, { formatOptions, ...stamped }));
    expect(await (await scene.open()).unfinished()).toHaveLength(4);
    if (how === 'sign') await run(stamped);
    else await resume(stamped);
    expect(await (await scene.open()).unfinished()).toEqual([]);
    expect([scene.service.asked, scene.service.reports.length]).toEqual([4, 4]);
    await requireSigned(path);
  });

  it('requests one signature of two packages with the same content', async () => {
    await writeFile(path, makeBundle(packageOf('a'), { publisher, more: [{ name: 'x.msix', bytes: packageOf('a') }] }));
    const journal = await scene.open();
    const signing = scene.signing(journal, { formatOptions, authorities: authorities() });
    expect((await signFiles([{ path, output: path }], signing)).files[0]).toMatchObject({
      status: 'signed',
      reported: true,
    });
    expect([scene.service.asked, scene.service.reports.length, await journal.unfinished()]).toEqual([2, 2, []]);
    await requireSigned(path);
  });
});
