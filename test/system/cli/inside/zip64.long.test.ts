/** `sign --inside` with archives that Python writes with ZIP64 fields, many entries and large entries. */

import { execFileSync } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { LARGEST_BUFFERED } from '../../../../src/format/contents.ts';
import { fixture, runCli } from '../../../support/programs/cli.ts';
import { PYTHON } from '../../../support/programs/python.ts';
import { useServer } from '../../../support/services/shared-server.ts';
import { folderForEach, forAll } from '../../../support/set-up.ts';
import { osslsigncodeVerify } from '../../interop/verifiers.ts';

const server = await forAll(useServer({ tsa: true }));
const scratch = folderForEach();

const WRITE = `
import os, sys, zipfile
path, program, kind, method = sys.argv[1:]
method = zipfile.ZIP_DEFLATED if method == 'deflated' else zipfile.ZIP_STORED
data = open(program, 'rb').read()
with zipfile.ZipFile(path, 'w', method) as archive:
    for index in range(66000 if kind == 'many entries' else 3):
        archive.writestr('text/%d.txt' % index, 'text')
    with archive.open('bin/app.exe', 'w', force_zip64=kind == 'ZIP64 fields') as entry:
        entry.write(data)
        if kind == 'a large entry':
            for _ in range(70):
                entry.write(os.urandom(1 << 20))
    archive.writestr('last.txt', 'last')
`;
const READ = `
import sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as archive:
    assert archive.testzip() is None
    assert archive.namelist()[-2:] == ['bin/app.exe', 'last.txt'] and archive.read('last.txt') == b'last'
    archive.extract('bin/app.exe', sys.argv[2])
`;

it.each([
  { kind: 'ZIP64 fields', method: 'deflated' },
  { kind: 'many entries', method: 'stored' },
  { kind: 'a large entry', method: 'stored' },
  { kind: 'a large entry', method: 'deflated' },
])('signs a program in an archive with $kind, $method, which unzip and Python read', async ({ kind, method }) => {
  const [path, folder] = [scratch.at('app.zip'), scratch.at('extracted')];
  execFileSync(PYTHON, ['-c', WRITE, path, fixture('pe/hello.exe'), kind, method]);
  const run = await runCli(['sign', '--inside', path], { env: server.env });
  expect([run.code, run.stderr]).toEqual([0, '']);
  execFileSync('unzip', ['-tqq', path]);
  execFileSync(PYTHON, ['-c', READ, path, folder]);
  const program = `${folder}/bin/app.exe`;
  if (kind === 'a large entry') expect((await stat(program)).size).toBeGreaterThan(LARGEST_BUFFERED);
  expect(await osslsigncodeVerify(server.roots, program)).toMatchObject({ accepted: true });
  expect((await runCli(['verify', '--inside', '--roots', server.roots, path])).stdout).toContain('1 good, ');
});
