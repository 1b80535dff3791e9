/** Services that chose otherwise where the document of the API leaves the choice: the command line works with them as well. */

import { beforeAll, describe, expect, it } from 'vitest';
import { type AnswersRun, signAmongAnswers } from '../../../support/services/answers-scene.ts';
import {
  PLAUSIBLE_ANSWERS,
  PLAUSIBLE_REPORT_REFUSALS,
  PLAUSIBLE_REPORTS,
  PLAUSIBLE_SIGNATURES,
  PLAUSIBLE_WITH_STRANGE_RECORD,
  PLAUSIBLE_WITHOUT_RECORD,
} from '../../../support/services/plausible-answers.ts';

/** Odd, and a success anyway. */
const ODD = [
  'breaks-after-answer',
  'information-first',
  'message-no-text',
  'wrapped-base64',
  'base64-for-addresses',
  'blanks-in-base64',
  'padding-twice',
  'chunks-without-end',
  'chunks-without-end-left-open',
  'length-too-long',
  'compressed-without-end',
  'compressed-left-open',
  'deflated-without-end',
  'compressed-with-wrong-checksum',
  'spaces-without-end',
] as const;

const namesIn = (...tables: readonly object[]): readonly string[] => tables.flatMap((table) => Object.keys(table));

describe('a success of sign', () => {
  const names = [...namesIn(PLAUSIBLE_SIGNATURES), ...ODD];
  let answers: AnswersRun;
  beforeAll(async () => {
    const all = [...names, ...namesIn(PLAUSIBLE_WITH_STRANGE_RECORD, PLAUSIBLE_WITHOUT_RECORD)];
    // One of the answers never ends.
    answers = await signAmongAnswers({ names: all, byName: PLAUSIBLE_ANSWERS, args: ['--timeout', '4'] });
  });

  it.each(names)('%s: signed with one request, and reported under the very id', (name) => {
    const { file, signRequests, reports, isUntouched } = answers.of(name);
    expect(file).toMatchObject({ status: 'signed', record: expect.any(String), reported: true });
    expect(signRequests).toBe(1);
    expect(reports).toContainEqual({ id: file?.record, status: 1 });
    expect(isUntouched).toBe(false);
  });

  it.each(namesIn(PLAUSIBLE_WITH_STRANGE_RECORD))('%s: signed and reported, with a digest for the id', (name) => {
    const { file, signRequests } = answers.of(name);
    const record = expect.stringMatching(/^sha256:[0-9a-f]{64} \(the id is not stored: /);
    expect(file).toMatchObject({ status: 'signed', record, reported: true });
    expect(signRequests).toBe(1);
  });

  it.each(namesIn(PLAUSIBLE_WITHOUT_RECORD))('%s: signed with one request, and nothing to report', (name) => {
    const { file, signRequests, isUntouched } = answers.of(name);
    expect(file).toMatchObject({ status: 'signed', record: null, reported: false });
    expect(signRequests).toBe(1);
    expect(isUntouched).toBe(false);
  });

  it('ends with 0, and warns of no failure', () => {
    expect(answers.run.code).toBe(0);
    expect(answers.run.stderr).not.toMatch(/did not arrive|failed {2}/);
  });
});

describe('an answer to report-sign', () => {
  let answers: AnswersRun;
  beforeAll(async () => {
    const names = namesIn(PLAUSIBLE_REPORTS, PLAUSIBLE_REPORT_REFUSALS);
    answers = await signAmongAnswers({ names, byName: PLAUSIBLE_ANSWERS, operation: 'report-sign' });
  });

  it.each(namesIn(PLAUSIBLE_REPORTS))('%s: the report has arrived', (name) => {
    const { file, reports } = answers.of(name);
    expect(file).toMatchObject({ status: 'signed', reported: true });
    expect(reports).toEqual([{ id: file?.record, status: 1 }]);
  });

  it.each(namesIn(PLAUSIBLE_REPORT_REFUSALS))('%s: the file counts as signed, and the report is mentioned', (name) => {
    const { file, reports } = answers.of(name);
    expect(file).toMatchObject({ status: 'signed', reported: false });
    expect(reports).toEqual([{ id: file?.record, status: 1 }]);
    expect(answers.run.stderr).toMatch(new RegExp(`the report did not arrive: .* \\(record ${file?.record}\\)`));
  });

  it('decides nothing about the run', () => {
    expect(answers.run.code).toBe(0);
  });
});
