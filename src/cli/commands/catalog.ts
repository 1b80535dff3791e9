import { statSync } from 'node:fs';
import { composeReading } from '../../app/compose-local.ts';
import { fingerprintOf } from '../../crypto/fingerprint.ts';
import { toCodesignError } from '../../errors/codesign-error.ts';
import { plural } from '../../errors/plural.ts';
import { fromFileSystem } from '../../files/file-system-errors.ts';
import { identityAt, isUnchanged, openInput } from '../../files/input-file.ts';
import type { ListedFile } from '../../format/signable-file.ts';
import { newCatalog } from '../../formats/cat/create.ts';
import { listedFile } from '../../formats/catalogs.ts';
import { contentReader } from '../../formats/recognise.ts';
import { resolve } from '../../options/resolve.ts';
import type { OptionsOf } from '../../options/table.ts';
import type { Reading } from '../../verifying/verify-file.ts';
import { cliErrors } from '../errors.ts';
import { expandInputs } from '../input/inputs.ts';
import { reportReads, withProgress } from '../interruption.ts';
import type { Io } from '../io.ts';
import { failOne } from '../output/fail.ts';
import { jsonText } from '../output/json.ts';
import { Lines, shellWord, shown } from '../output/lines.ts';
import { writeOutput } from '../output/write-output.ts';

export async function catalog(named: readonly string[], options: OptionsOf<'catalog'>, io: Io): Promise<number> {
  const { output } = resolve('catalog', options, io.env);
  if (output === undefined) throw cliErrors('catalog-output-missing');
  const files = await expandInputs(named, { ...options, output: undefined, ofAnyKind: true }, io);
  const older = identityAt(output);
  const members = files.map(({ path }) => path).filter((path) => older === undefined || identityAt(path) !== older);
  if (members.length === 0) throw cliErrors('no-files');
  return createCatalog(members, output, options, io).catch((thrown) => failOne(output, thrown, options, io));
}

async function createCatalog(
  members: readonly string[],
  output: string,
  options: OptionsOf<'catalog'>,
  io: Io,
): Promise<number> {
  const { replace = false, dryRun = false, json = false } = options;
  if (!replace && identityAt(output) !== undefined) throw cliErrors('output-exists', { output });
  const listed = await withProgress({ doing: 'reading', done: 'read' }, options, io, (progress) =>
    readMembers(members, { ...composeReading(), onRead: reportReads(progress) }),
  );
  const content = newCatalog(listed, new Date());
  if (!dryRun) await writeOutput(output, content, { isNew: !replace });
  const status = dryRun ? 'planned' : 'created';
  const written = {
    members: members.length,
    bytes: content.length,
    ...(dryRun ? {} : { sha256: fingerprintOf(content) }),
  };
  const file = { path: output, output, format: 'cat', status, ...written };
  if (json) io.stdout.write(jsonText({ files: [file] }));
  const what = `${shown(output)}  (${plural(members.length, 'file')})`;
  const next = `codesign-remote sign ${shown(shellWord(output))}`;
  new Lines(io, options).result(dryRun ? `would create ${what}` : `created ${what}; sign it with: ${next}`);
  return 0;
}

/** Throws `catalog-member-changed` if a file changes before all files have been read. */
export async function readMembers(paths: readonly string[], reading: Reading): Promise<readonly ListedFile[]> {
  const members: Awaited<ReturnType<typeof readMember>>[] = [];
  for (const path of paths) members.push(await readMember(path, reading));
  for (const { path, stats } of members) {
    const now = statSync(path, { bigint: true, throwIfNoEntry: false });
    if (now === undefined || !isUnchanged(stats, now)) throw cliErrors('catalog-member-changed', { path });
  }
  return members.map(({ listed }) => listed);
}

async function readMember(path: string, { digestEntries, onRead }: Reading) {
  try {
    await using input = await openInput(path, (bytes, size) => onRead?.(path, bytes, size));
    const listed = await listedFile(input.source, contentReader(digestEntries), path);
    return { path, listed, stats: input.stats };
  } catch (thrown) {
    const { message, hint } = toCodesignError(fromFileSystem(thrown, 'read the file'));
    throw cliErrors('catalog-member-unusable', { path, reason: message, advice: hint }, { cause: thrown });
  }
}
