import { describe, expect, it } from 'vitest';
import { CodesignError, toCodesignError } from '../../../src/errors/codesign-error.ts';
import { defineErrors } from '../../../src/errors/define-errors.ts';
import { exitCodeFor } from '../../../src/errors/exit-codes.ts';

describe('defineErrors', () => {
  const errors = defineErrors('local', { 'out-of-paper': { message: 'no paper in tray {tray}', hint: 'Add some.' } });

  it('fills in each detail once', () => {
    const twice = defineErrors('local', { twice: { category: 'usage', message: '{a} {b} {a}' } });
    expect(twice('twice', { a: '{b}', b: 2 })).toMatchObject({ category: 'usage', message: '{b} 2 {b}' });
    expect(twice.table.twice.category).toBe('usage');
  });

  it('makes errors with code, category, message, hint and cause', () => {
    const cause = new Error('sensor');
    const error = errors('out-of-paper', { tray: 2 }, { cause, httpStatus: 418 });
    expect(error).toBeInstanceOf(CodesignError);
    const texts = { message: 'no paper in tray 2', hint: 'Add some.' };
    expect(error).toMatchObject({ code: 'out-of-paper', category: 'local', ...texts, httpStatus: 418, cause });
  });
});

it('exitCodeFor gives 0 for no failure, the code of the one kind, and 9 for several', () => {
  const kinds = [[], ['network', 'network'], ['http'], ['business'], ['network', 'local']] as const;
  expect(kinds.map(exitCodeFor)).toEqual([0, 3, 4, 5, 9]);
});

it('turns an unexpected error into an internal one that keeps its cause', () => {
  const thrown = new TypeError('x is undefined');
  expect(toCodesignError(thrown)).toMatchObject({ code: 'internal', category: 'internal', cause: thrown });
});
