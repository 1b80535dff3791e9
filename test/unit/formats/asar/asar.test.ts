import { expect, it } from 'vitest';
import { asar } from '../../../../src/formats/asar/index.ts';
import { contentsOf } from '../../../support/containers/contents.ts';
import { asarWithList, makeAsar } from '../../../support/containers/make-asar.ts';

it('lists the files in the archive, also those with names of JavaScript', async () => {
  const files = { 'main.js': 'main', 'lib/__proto__/a.node': 'a', constructor: 'b' };
  const bytes = Object.fromEntries(Object.entries(files).map(([name, text]) => [name, Buffer.from(text)]));
  const archive = makeAsar(bytes, { link: { link: 'main.js' }, native: { size: 5, unpacked: true } });
  expect(asar.recognition.claims(archive)).toBe(true);
  expect(await contentsOf(asar, archive)).toEqual(files);
});

it.each([
  ['a list that is not JSON', '{"files":', 'not JSON'],
  ['no object', '{"files":[]}', 'no object'],
  ['an offset that is no text of digits', '{"files":{"a":{"size":1,"offset":"-1"}}}', 'contain the data of a'],
  ['an offset beyond the end', '{"files":{"a":{"size":1,"offset":"9"}}}', 'contain the data of a'],
  ['a file without a size', '{"files":{"a":{"offset":"0"}}}', 'contain the data of a'],
  ['folders nested too deeply', `${'{"files":{"a":'.repeat(300)}{}${'}}'.repeat(300)}`, 'nested too deeply'],
])('rejects %s', async (_what, list, problem) => {
  const message = expect.stringContaining(problem);
  await expect(contentsOf(asar, asarWithList(list))).rejects.toMatchObject({ code: 'file-malformed', message });
});

it('rejects a list longer than the file', async () => {
  await expect(contentsOf(asar, makeAsar({}).subarray(0, 20))).rejects.toMatchObject({ code: 'file-malformed' });
});
