/** Appending after a run that wrote the file, but was killed before it could record that. */

import { readFile, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import type { Journal } from '../../../src/journal/journal.ts';
import { signFiles } from '../../../src/signing/sign-files.ts';
import { forEach } from '../../support/set-up.ts';
import { documentWithField, makePdf } from '../formats/pdf/make-pdf.ts';
import { journalScene } from './journal-scene.ts';

const scene = forEach(journalScene);

async function endingEarly(): Promise<Journal> {
  const journal = await scene.open();
  const written = async () => ({ reportDue: undefined, reported: undefined });
  return {
    ...journal,
    async claim(asking) {
      const claim = await journal.claim(asking);
      return claim && { ...claim, written, reported: async () => undefined };
    },
  };
}

const APPEND = { existing: 'append' } as const;

it.each(['an unsigned file', 'a signed file'])('%s gets it once', async (kind) => {
  const file = await scene.program('a.exe');
  if (kind === 'a signed file')
    await signFiles([file], scene.signing(await scene.open(), { formatOptions: { description: 'First' } }));
  const asked = scene.service.asked + 1;
  const first = await signFiles([file], scene.signing(await endingEarly(), APPEND));
  expect(first.files).toMatchObject([{ status: 'signed', reused: false }]);
  const written = await readFile(file.path);

  const again = await signFiles([file], scene.signing(await scene.open(), APPEND));
  expect(again).toMatchObject({
    files: [{ status: 'unchanged', reused: true, bytes: written.length, warnings: [] }],
    summary: { signed: 0, unchanged: 1 },
  });
  expect(await readFile(file.path)).toEqual(written);
  expect(scene.service.asked).toBe(asked);
});

it.each([{ certify: 'no-changes' }, { field: 'Approval' }])(
  'a document gets it once, with %o',
  async (formatOptions) => {
    const { path, output } = await scene.program('a.pdf');
    await writeFile(path, documentWithField());
    const signing = { existing: 'append', formatOptions, now: () => new Date('2026-11-21T10:00:00Z') } as const;
    const first = await signFiles([{ path, output }], scene.signing(await endingEarly(), signing));
    expect(first.files).toMatchObject([{ status: 'signed', reused: false }]);
    const written = await readFile(path);
    const later = { ...signing, now: () => new Date('2026-11-22T12:00:00Z') };

    const again = await signFiles([{ path, output }], scene.signing(await scene.open(), later));
    expect(again.files).toMatchObject([{ status: 'unchanged', reused: true }]);
    expect(await readFile(path)).toEqual(written);
    expect(scene.service.asked).toBe(1);
  },
);

it('a document gets a second signature for another reason', async () => {
  const { path, output } = await scene.program('a.pdf');
  await writeFile(path, makePdf());
  const signing = (reason: string) => ({ existing: 'append', formatOptions: { reason } }) as const;
  await signFiles([{ path, output }], scene.signing(await endingEarly(), signing('Checked')));
  const again = await signFiles([{ path, output }], scene.signing(await scene.open(), signing('Approved')));
  expect(again.files).toMatchObject([{ status: 'signed', reused: false }]);
  expect(scene.service.asked).toBe(2);
});

it('a result at another path is written again', async () => {
  const { path } = await scene.program('a.exe');
  const files = [{ path, output: `${path}.signed` }];
  await signFiles(files, scene.signing(await endingEarly(), APPEND));
  const written = await readFile(`${path}.signed`);
  const again = await signFiles(files, scene.signing(await scene.open(), APPEND));
  expect(again.files).toMatchObject([{ status: 'signed', reused: true, warnings: [] }]);
  expect(await readFile(`${path}.signed`)).toEqual(written);
});
