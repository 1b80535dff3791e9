/** What Python's zipfile, which shares nothing with src, finds in an archive. */

import { writeFile } from 'node:fs/promises';
import { must } from '../../../system/interop/verifiers.ts';

interface PythonEntry {
  readonly name: string;
  readonly offset: number;
  readonly size: number;
  readonly sha256: string;
}

const PROGRAM = `
import hashlib, json, sys, zipfile

def read(path, what):
    with zipfile.ZipFile(path) as archive:
        def digest(info): return hashlib.sha256(archive.read(info)).hexdigest() if what == 'contents' else ''
        entries = [{'name': i.filename, 'offset': i.header_offset, 'size': i.file_size, 'sha256': digest(i)} for i in archive.infolist()]
        return {'entries': entries}

with open(sys.argv[1]) as file: paths = json.load(file)
print(json.dumps([read(path, sys.argv[2]) for path in paths]))
`;

/** Reads every entry's contents, which checks its CRC-32 and its local name, unless it must not. */
export async function readByPython(
  paths: readonly string[],
  what: 'contents' | 'directory' = 'contents',
): Promise<readonly { readonly entries: readonly PythonEntry[] }[]> {
  const list = `${paths[0]}.list`;
  await writeFile(list, JSON.stringify(paths));
  return JSON.parse(await must('python3', ['-c', PROGRAM, list, what]));
}
