/** Where a text stops being JSON, held to what JSON.parse takes. */

import { expect, it, test } from 'vitest';
import { locateFault } from '../../../src/options/stored/json-file.ts';

test.each([
  ['', 1, 1],
  ['{', 1, 2],
  ['{"a" 1}', 1, 6],
  ['{"a": }', 1, 7],
  ['{"a": 1,}', 1, 9],
  ['{"a": 1 "b": 2}', 1, 9],
  ['[1, 2', 1, 6],
  ['[1,, 2]', 1, 4],
  ['{}x', 1, 3],
  ['{"a": 01}', 1, 7],
  ['{"a": tru}', 1, 7],
  ["{'a': 1}", 1, 2],
  ['{\n  "a": 1,\n  // why\n  "b": 2\n}', 3, 3],
  ['{\r\n  "ü": "é",\r\n  "😀": x\r\n}', 3, 8],
  ['{"a": "b\nc"}', 1, 7],
  ['{"a": "\\x"}', 1, 7],
  ['{"a": {"b": [1, {"c": ]}]}}', 1, 23],
])('%j', (text, line, column) => {
  expect(() => JSON.parse(text)).toThrow();
  expect(locateFault(text)).toEqual({ line, column });
});

test.each(['{"a":[1,-2.5e+3,true,false,null,"x\\u00e9\\n",{},[]],"b":{"c":[[]]}}', ' [ ] ', '"x\u007f\u0085"'])(
  'walks to the end of %j, which is JSON',
  (text) => {
    JSON.parse(text);
    expect(locateFault(text).column).toBe([...text].length + 1);
  },
);

it('comes back from a text nested without end', () => {
  expect(locateFault('['.repeat(200_000))).toEqual({ line: 1, column: 200_001 });
});
