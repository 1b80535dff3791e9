/** What resuming removes next to the files of unfinished calls: in the folders where their results were to go. */

import { mkdir, realpath, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { SharingFile, UnfinishedCall } from '../../../src/journal/journal.ts';
import { removeStaleFilesOf } from '../../../src/signing/resume/resume.ts';
import { temporaryFolder } from '../../support/programs/cli.ts';

function callFor(kind: UnfinishedCall['kind'], ...outputs: readonly (string | undefined)[]): UnfinishedCall {
  const files = outputs.map((output): SharingFile => {
    const manner = {
      path: '/in/app.exe',
      output: output ?? '',
      existing: 'replace',
      formatOptions: {},
    } as const;
    const fate = { file: 'app.exe', written: kind === 'unreported', unusable: false, reason: undefined };
    return { ...fate, signingOptions: output === undefined ? undefined : manner };
  });
  return {
    id: 'call-1',
    kind,
    at: '2026-11-21T10:00:00.000Z',
    work: { origin: 'https://a.example', code: '1', algorithm: 'SHA256', digest: '00' },
    metadata: { file: 'app.exe', bytes: 1, certificate: { name: 'A', sha256: 'aa' }, client: 'me' },
    files,
    record: undefined,
    reportDue: undefined,
    reason: undefined,
  };
}

it('looks next to every target, whatever the call waits for, and where a link leads', async () => {
  await using folder = await temporaryFolder();
  const root = await realpath(folder.path);
  const places = { one: join(root, 'one'), other: join(root, 'other'), linked: join(root, 'linked') };
  for (const place of Object.values(places)) await mkdir(place);
  await writeFile(join(places.linked, 'app.exe'), 'x');
  await symlink(join(places.linked, 'app.exe'), join(root, 'link.exe'));
  const looked: string[] = [];
  const calls = [
    callFor('unknown', join(places.one, 'app.exe')),
    callFor('unreported', join(places.other, 'new.exe'), undefined),
    callFor('unwritten', join(root, 'link.exe')),
  ];
  await removeStaleFilesOf(calls, { removeStaleFiles: async (place) => void looked.push(place) });
  expect(looked).toEqual([places.one, places.other, places.linked]);
});
