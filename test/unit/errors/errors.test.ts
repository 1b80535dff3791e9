import { expect, it } from 'vitest';
import { toCodesignError } from '../../../src/errors/codesign-error.ts';
import { defineErrors } from '../../../src/errors/define-errors.ts';
import { exitCodeFor } from '../../../src/errors/exit-codes.ts';

it('defineErrors fills in each detail once', () => {
  const twice = defineErrors('local', { twice: { category: 'usage', message: '{a} {b} {a}' } });
  expect(twice('twice', { a: '{b}', b: 2 })).toMatchObject({ category: 'usage', message: '{b} 2 {b}' });
  expect(twice.table.twice.category).toBe('usage');
});

it('exitCodeFor gives 0 for no failure, the code of the one kind, and 9 for several', () => {
  const kinds = [[], ['network', 'network'], ['http'], ['business'], ['network', 'local']] as const;
  expect(kinds.map(exitCodeFor)).toEqual([0, 3, 4, 5, 9]);
});

it('turns an unexpected error into an internal one that keeps its cause', () => {
  const thrown = new TypeError('x is undefined');
  expect(toCodesignError(thrown)).toMatchObject({ code: 'internal', category: 'internal', cause: thrown });
});
