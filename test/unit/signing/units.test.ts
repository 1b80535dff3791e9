/** A format with XML envelopes and two independent units. */

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { rowOf, totalLine } from '../../../src/cli/output/changes/outcomes.ts';
import { inspectText } from '../../../src/cli/output/inspect.ts';
import { CodesignError } from '../../../src/errors/codesign-error.ts';
import type { Format } from '../../../src/format/format.ts';
import { removeSignatures } from '../../../src/signing/changes/remove.ts';
import { matchKey } from '../../../src/signing/service/key-match.ts';
import { signFiles } from '../../../src/signing/sign-files.ts';
import { inspectFile } from '../../../src/verifying/inspect-file.ts';
import { digestEntries } from '../../../src/zip/entry-digests.ts';
import { forEach } from '../../support/set-up.ts';
import { readToy, toy } from '../formats/support/toy-format.ts';
import { journalScene } from './journal-scene.ts';
import { type FlatSigning, testRun } from './signing-run.ts';

const scene = forEach(journalScene);
let path: string;
let stamped: Buffer[];
beforeEach(async () => {
  path = join(scene.folder, 'a.toy');
  await writeFile(path, 'TOY content');
  stamped = [];
});

const authorities = {
  async stamp(value: unknown) {
    stamped.push(Buffer.from(value as Uint8Array));
    return { token: Buffer.from('a token'), time: new Date('2026-11-21T10:00:00Z'), authority: 'https://tsa.example' };
  },
};

async function run(more: FlatSigning = {}, formats: readonly Format[] = [toy]) {
  const signing = scene.signing(await scene.open(), { formats, authorities, timestampAlgorithm: 'SHA256', ...more });
  return { chain: signing.context.chain, outcome: (await signFiles([{ path, output: path }], signing)).files[0] };
}

const FIGURES = { signatures: 0, requested: new Set<string>(), milliseconds: 0 };

describe('a file with two units', () => {
  it('has both signatures, by one request each, and a timestamp of the unit that has one', async () => {
    const { outcome, chain } = await run();
    expect(outcome).toMatchObject({
      status: 'signed',
      record: 'record-1',
      reused: false,
      timestamp: '2026-11-21T10:00:00Z',
      timestampAuthority: 'https://tsa.example',
      units: [
        { name: 'license', algorithm: 'SHA256', record: 'record-1', reused: false, timestamp: '2026-11-21T10:00:00Z' },
        { name: 'strong name', algorithm: 'SHA256', record: 'record-2', reused: false, timestamp: null },
      ],
    });
    expect(outcome && rowOf(outcome)).toMatchObject({
      details: ['SHA256', '2 signatures', 'timestamp 2026-11-21T10:00:00Z', expect.stringMatching(/ ms$/)],
      below: ['license: record record-1, timestamp 2026-11-21T10:00:00Z', 'strong name: record record-2'],
    });
    expect(scene.service.asked).toBe(2);
    expect(Object.fromEntries(scene.service.reports)).toEqual({ 'record-1': 1, 'record-2': 1 });
    const { text, signatures } = readToy(await readFile(path));
    expect(text).toBe('TOY content');
    expect(signatures.map(({ name, token }) => [name, token?.toString()])).toEqual([
      ['license', 'a token'],
      ['strong name', undefined],
    ]);
    expect(stamped).toEqual([signatures[0]?.value]);
    for (const { digest, value } of signatures)
      expect(matchKey(chain, '1').verifies({ digest, algorithm: 'SHA256' }, value)).toBe(true);
  });

  it('is as it was when the second signature fails, and the next run requests only that one', async () => {
    const before = await readFile(path);
    scene.service.before = async () => {
      if (scene.service.asked === 2)
        throw new CodesignError({ code: 'refused', category: 'business', message: 'refused', hint: '' });
    };
    expect((await run()).outcome?.status).toBe('failed');
    expect(await readFile(path)).toEqual(before);
    expect((await run()).outcome).toMatchObject({
      ...{ status: 'signed', record: 'record-1', reused: false },
      units: [{ reused: true }, { record: 'record-3', reused: false }],
    });
    expect(scene.service.asked).toBe(3);
    expect(readToy(await readFile(path)).signatures).toHaveLength(2);
  });

  it('shows both digests in a dry run', async () => {
    const { outcome } = await run({ dryRun: true });
    const units = ['license', 'strong name'].map((name) => ({ name, digest: expect.stringMatching(/=$/) }));
    expect(outcome).toMatchObject({ status: 'planned', units });
    expect(outcome && totalLine([outcome], 'signed', FIGURES)).toContain('2 signatures would be requested');
    expect(scene.service.asked).toBe(0);
  });

  it('counts twice for a limit of signatures', async () => {
    await expect(run({ maxSignatures: 1 })).rejects.toMatchObject({ code: 'too-many-signatures' });
    expect(scene.service.asked).toBe(0);
  });
});

it('is inspected as XML, without anything of a CMS', async () => {
  await run();
  const inspected = await inspectFile(path, { formats: [toy], digestEntries, onRead: () => undefined });
  const [signature] = inspected.signatures;
  expect(signature).toMatchObject({ kind: 'xml', contentType: undefined, signers: [], certificates: [] });
  expect(inspectText(inspected)).toContain(`XML signature         ${signature?.length} bytes`);
});

it('rejects a capability that files of the format do not have before any request', async () => {
  const failed = { status: 'failed', error: { code: 'operation-unsupported' } };
  expect((await run({}, [{ ...toy, signing: undefined }])).outcome).toMatchObject(failed);
  const changing = { ...testRun(), formats: [toy] };
  const { files } = await removeSignatures([{ path, output: path }], changing);
  expect(files).toMatchObject([failed]);
  expect(scene.service.asked).toBe(0);
});
