import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ClassifiedFile } from '../../policy/classified-file.ts';
import { firstPolicy, rootsOf } from '../../policy/first-policy.ts';
import { cliErrors } from '../errors.ts';
import type { Io } from '../io.ts';
import { Lines, type LinesOptions, shown } from '../output/lines.ts';
import { writeOutput } from '../output/write-output.ts';

const POLICY = 'codesign-policy.json';
const ROOTS = 'codesign-roots.pem';

/** Never replaces a file. */
export async function printPolicy(
  files: readonly ClassifiedFile[],
  options: LinesOptions & { readonly output?: string | undefined },
  io: Io,
): Promise<number> {
  const { output = POLICY } = options;
  const lines = new Lines(io, options);
  const roots = rootsOf(files);
  const path = join(dirname(output), ROOTS);
  const taken = [output, path].find((each) => existsSync(each));
  if (taken !== undefined) throw cliErrors('policy-exists', { path: taken });
  if (roots !== '') {
    await writeOutput(path, Buffer.from(roots), { isNew: true });
    lines.result(`created  ${shown(path)}  (compare each SHA-256 in it with the one that its publisher announces)`);
  }
  await writeOutput(output, Buffer.from(firstPolicy(files, ROOTS)), { isNew: true });
  lines.result(
    `created  ${shown(output)}  (replace each TODO, then run codesign-remote verify --policy ${shown(output)})`,
  );
  return 0;
}
