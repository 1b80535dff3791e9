/** The table of verdicts is complete, and blocks of several signers are checked as it says; the long test checks all files. */

import { describe, expect, it } from 'vitest';
import { folderForAll } from '../../support/set-up.ts';
import { blockGroup } from './cases.ts';
import { disagreeing, readVerdicts, verdictText } from './table.ts';
import { verifyAll } from './verifiers.ts';

const folder = folderForAll();
const rows = readVerdicts();

it('checks blocks of several signers, and those with content, as in the table', async () => {
  const { files, roots } = blockGroup(folder);
  const own = await verifyAll([...files.values()], roots);
  const found = Array.from(files, ([file, place]) => [file, verdictText(own.get(place))]);
  const expected = rows.map((row) => [row.file, verdictText(row)]);
  expect(found.sort()).toEqual(expected.filter(([file]) => file?.startsWith('block-jar/')).sort());
});

describe('the table', () => {
  it('names each file once, with a verdict, and says why wherever others disagree', () => {
    expect(rows.length).toBeGreaterThan(400);
    expect(new Set(rows.map(({ file }) => file)).size).toBe(rows.length);
    const verdicts = ['trusted', 'untrusted', 'unsupported', 'broken', 'unsigned', 'unsupported-format'];
    expect(rows.filter(({ right }) => !verdicts.includes(right))).toEqual([]);
    expect(rows.filter((row) => disagreeing(row).length > 0 !== (row.why !== ''))).toEqual([]);
  });

  it('has a finding for every rejection, and no serious finding for a trusted file', () => {
    const withFindings = rows.filter(({ findings }) => findings.length > 0);
    expect(withFindings.filter(({ right }) => right === 'trusted')).toEqual([]);
    const refused = rows.filter(({ right }) => right === 'broken' || right === 'untrusted');
    expect(refused.filter(({ findings }) => findings.length === 0)).toEqual([]);
  });
});
