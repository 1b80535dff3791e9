import { describe } from 'vitest';
import { formats } from '../../../src/formats/registry.ts';
import { describeFormat } from './format.contract.ts';
import { fixturesOf } from './support/format-fixtures.ts';

describe.each(formats)('the format $id', (format) => {
  describeFormat(format, fixturesOf(format));
});
