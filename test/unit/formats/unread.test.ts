/** What verifiers do not read, and what digests of a catalog do not cover: a note or a warning, and no objection. */

import { expect, it } from 'vitest';
import { SPC_NESTED_SIGNATURE } from '../../../src/asn1/object-identifiers.ts';
import { examineUnread } from '../../../src/format/cms.ts';
import { examineListed } from '../../../src/formats/catalogs.ts';
import { PDF_PROFILE } from '../../../src/formats/pdf/stored.ts';
import { pe } from '../../../src/formats/pe/index.ts';
import { flipped } from '../../support/flipped.ts';
import { makeThrowawaySigner } from '../../support/signed-files/throwaway-signer.ts';
import { readFixture } from './support/fixtures.ts';
import { openBytes, signBytes } from './support/sign-bytes.ts';

it('signatures nested in one of a document are noted, and those in one of a program are read', () => {
  const nested = [{ type: SPC_NESTED_SIGNATURE, values: [] }];
  expect(examineUnread(PDF_PROFILE, nested)).toMatchObject([{ code: 'nested-signature-not-read', weight: 'note' }]);
  expect(examineUnread({ ...PDF_PROFILE, readsNested: true }, nested)).toEqual([]);
  expect(examineUnread(PDF_PROFILE, [])).toEqual([]);
});

it('a program that a catalog lists is noted if its own signature is broken or damaged', async () => {
  const { result } = await signBytes(pe, readFixture('pe/hello.exe'), await makeThrowawaySigner());
  expect(await examineListed(await openBytes(pe, result))).toEqual([]);
  // A letter of the message of the DOS program.
  const changed = flipped(result, 80);
  const note = { code: 'listed-file-strange', weight: 'note' };
  expect(await examineListed(await openBytes(pe, changed))).toMatchObject([note]);
  const damaged = Buffer.from(result).fill(0xff, result.length - 200);
  expect(await examineListed(await openBytes(pe, damaged))).toMatchObject([note]);
});
