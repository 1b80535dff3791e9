/** What Python's zipfile, which shares nothing with src, finds in an archive. */

import { writeFile } from 'node:fs/promises';
import { run } from '../../../system/interop/verifiers.ts';

export interface PythonReading {
  /** In the directory's order. */
  readonly entries: readonly {
    readonly name: string;
    readonly offset: number;
    readonly size: number;
    readonly sha256: string;
  }[];
  readonly comment: string;
}

const PROGRAM = `
import hashlib, io, json, sys, zipfile

class Sparse(io.RawIOBase):
    """Zeros, except some segments."""
    def __init__(self, size, segments):
        self.size, self.at = size, 0
        self.segments = [(start, bytes.fromhex(text)) for start, text in segments]
    def readable(self): return True
    def seekable(self): return True
    def tell(self): return self.at
    def seek(self, offset, whence=0):
        self.at = (0, self.at, self.size)[whence] + offset
        return self.at
    def read(self, length=-1):
        end = self.size if length is None or length < 0 else min(self.size, self.at + length)
        found = bytearray(end - self.at)
        for start, data in self.segments:
            low, high = max(start, self.at), min(start + len(data), end)
            if low < high: found[low - self.at:high - self.at] = data[low - start:high - start]
        self.at = end
        return bytes(found)

def read(path, what):
    source = path
    if path.endswith('.json'):
        with open(path) as file: source = Sparse(**json.load(file))
    with zipfile.ZipFile(source) as archive:
        def digest(info): return hashlib.sha256(archive.read(info)).hexdigest() if what == 'contents' else ''
        entries = [{'name': i.filename, 'offset': i.header_offset, 'size': i.file_size, 'sha256': digest(i)} for i in archive.infolist()]
        return {'entries': entries, 'comment': archive.comment.decode('latin1')}

with open(sys.argv[1]) as file: paths = json.load(file)
print(json.dumps([read(path, sys.argv[2]) for path in paths]))
`;

/** Reads every entry's contents, which checks its CRC-32 and its local name, unless it must not. */
export async function readByPython(
  paths: readonly string[],
  what: 'contents' | 'directory' = 'contents',
): Promise<readonly PythonReading[]> {
  const list = `${paths[0]}.list`;
  await writeFile(list, JSON.stringify(paths));
  const { accepted, output } = await run('python3', ['-c', PROGRAM, list, what]);
  if (!accepted) throw new Error(`python3 refuses one of ${paths.join(' ')}: ${output}`);
  return JSON.parse(output);
}

/** As for a file that has zeros wherever no segment is. `path`, whose name ends with `.json`, is where the segments are put. */
export async function readSparseByPython(
  path: string,
  size: number,
  segments: readonly { readonly start: number; readonly bytes: Uint8Array }[],
): Promise<PythonReading | undefined> {
  const listed = segments.map(({ start, bytes }) => [start, Buffer.from(bytes).toString('hex')]);
  await writeFile(path, JSON.stringify({ size, segments: listed }));
  return (await readByPython([path], 'directory'))[0];
}
