import { expect, it } from 'vitest';
import { readStep, rememberSteps } from '../../../src/journal/calls/steps.ts';
import { encodeLine } from '../../../src/journal/lines.ts';

const lineOf = (call: string): string =>
  encodeLine({ step: 'released', call, at: '2026-11-21T12:00:00.000Z' }).trimEnd();

it('gives what the line says, read once', () => {
  const stepIn = rememberSteps();
  const line = lineOf('one');
  expect(stepIn(line)).toEqual(readStep(line));
  expect(stepIn(line)).toBe(stepIn(line));
  expect(stepIn(lineOf('two'))).toMatchObject({ call: 'two' });
});

it('takes no damaged line for a whole one that it knows', () => {
  const stepIn = rememberSteps();
  const line = lineOf('one');
  stepIn(line);
  expect(stepIn(line.replace('one', 'two'))).toBeUndefined();
  expect(stepIn(line.slice(0, -1))).toBeUndefined();
});

it('forgets those first that were not asked for longest', () => {
  const stepIn = rememberSteps();
  const [kept, forgotten] = [lineOf('kept'), lineOf('forgotten')];
  const before = { kept: stepIn(kept), forgotten: stepIn(forgotten) };
  for (let number = 0; number < 511; number++) {
    stepIn(lineOf(`${number}`));
    stepIn(kept);
  }
  expect(stepIn(kept)).toBe(before.kept);
  expect(stepIn(forgotten)).not.toBe(before.forgotten);
});
