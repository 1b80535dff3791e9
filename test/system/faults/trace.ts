/** The calls of the file system that signing makes. */

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { REPOSITORY, runCli, temporaryFolder } from '../../support/programs/cli.ts';

export const PRELOAD = join(REPOSITORY, 'test/support/runs/faulty-file-system.cjs');

interface Traced {
  /** Of a file named `app`, as the preload expects it. */
  readonly name: string;
  readonly bytes: Uint8Array;
  /** Signs it to a new file first. */
  readonly toOutput?: boolean;
  readonly env: Readonly<Record<string, string>>;
}

/** Each as `operation:place:number`. */
export async function traceSigning({ name, bytes, toOutput = false, env }: Traced): Promise<readonly string[]> {
  await using folder = await temporaryFolder('codesign-trace-');
  const [files, trace] = [join(folder.path, 'files'), join(folder.path, 'trace')];
  const path = join(files, name);
  await mkdir(files);
  await writeFile(path, bytes);
  for (const output of [...(toOutput ? [join(files, `new-${name}`)] : []), path]) {
    const run = await runCli(['sign', '--no-timestamp', path, '-o', output], {
      env: {
        ...env,
        CODESIGN_STATE_DIR: join(folder.path, 'state'),
        CODESIGN_TEST_FAULT_TRACE: trace,
        NODE_OPTIONS: `--require ${PRELOAD}`,
      },
    });
    if (run.code !== 0) throw new Error(`${name} was not signed: ${run.stderr}`);
  }
  return (await readFile(trace, 'utf8')).trim().split('\n');
}
