import type { ByteSource } from '../../bytes/byte-source.ts';
import { cabinetErrors } from '../../cabinet/errors.ts';
import type { CompoundStorage, CompoundStream } from '../../compound-file/format.ts';
import { streamSource } from '../../compound-file/read.ts';
import type { ContainedFile, FindNeighbour } from '../../format/signable-file.ts';
import { cabinetFiles } from '../cabinet-contents.ts';
import { isTable, openDatabase, streamName } from './database.ts';

/** First byte in the names of property sets, such as the summary information. */
const PROPERTIES = 5;

/** Yields the files in the installer's cabinets, and streams such as the libraries of custom actions. */
export async function* installerFiles(
  source: ByteSource,
  root: CompoundStorage,
  outer: FindNeighbour = async () => undefined,
): AsyncGenerator<ContainedFile> {
  const rows = await openDatabase(source, root);
  const files = new Map((await rows('File')).map(({ File = '', FileName = '' }) => [File, FileName]));
  const cabinets = new Set((await rows('Media')).flatMap(({ Cabinet }) => (Cabinet ? [Cabinet] : [])));
  const embedded = new Map<string, CompoundStream>();
  for (const { name, stream } of otherStreams(root, '')) {
    if (cabinets.has(`#${name}`)) embedded.set(name, stream);
    else yield { name, size: stream.size, open: async () => streamSource(source, stream) };
  }
  const find: FindNeighbour = async (name) => {
    const stream = embedded.get(name.replace(/^#/, ''));
    return stream === undefined ? await outer(name) : streamSource(source, stream);
  };
  for (const name of cabinets) {
    const cabinet = await find(name);
    if (cabinet === undefined) {
      yield { name, size: 0, open: async () => Promise.reject(cabinetErrors('cabinet-missing', { name })) };
      continue;
    }
    for await (const file of cabinetFiles(cabinet, find)) yield { ...file, name: installedName(file.name, files) };
  }
}

/** In cabinets, each file has its key in the table File as its name. The table has names such as `SHORT|long`. */
function installedName(key: string, files: ReadonlyMap<string, string>): string {
  const name = files.get(key);
  return name === undefined ? key : `${name.slice(name.indexOf('|') + 1)} (${key})`;
}

/** Yields the streams that are neither tables nor property sets, including those in the storages of patches. */
function* otherStreams(
  { children }: CompoundStorage,
  folder: string,
): Generator<{ readonly name: string; readonly stream: CompoundStream }> {
  for (const node of children) {
    const name = `${folder}${streamName(node.name)}`;
    if (node.kind === 'storage') yield* otherStreams(node, `${name}/`);
    else if (!isTable(node.name) && node.name[0] !== PROPERTIES) yield { name, stream: node };
  }
}
