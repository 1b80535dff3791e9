/** What all cases of the fault matrix share: a real service, the inputs, and what they are signed without a fault. */

import { readFileSync } from 'node:fs';
import { readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LARGEST_DIRECT } from '../../../src/bytes/file-source.ts';
import { fixture, runCli, temporaryFolder } from '../../support/programs/cli.ts';
import { useServer } from '../../support/services/shared-server.ts';
import { createTlsAuthority } from '../../support/services/tls-authority.ts';
import { MADE_INPUTS } from '../../support/signed-files/made-inputs.ts';

/** The input of each format, and what its name ends with. */
export const INPUTS = {
  pe: { extension: 'exe', make: () => readFileSync(fixture('pe/hello.exe')) },
  // Small files are read and written whole.
  'large pe': {
    extension: 'exe',
    make: () => Buffer.concat([readFileSync(fixture('pe/hello.exe')), Buffer.alloc(2 * LARGEST_DIRECT)]),
  },
  jar: { extension: 'jar', make: () => readFileSync(fixture('jar/plain.jar')) },
  ...MADE_INPUTS,
} as const;
export type FormatId = keyof typeof INPUTS;
export const FORMAT_IDS = Object.keys(INPUTS) as readonly FormatId[];

/**
 * One for each way to read and write a file: the others make the same calls in the same order, which `faults.long.test.ts`
 * checks. An archive is here too because its contents move.
 */
export const WAYS_OF_WRITING = ['pe', 'large pe', 'jar', 'msi', 'cat'] as const;

const PAGE = 4096;

export type Stage = Awaited<ReturnType<typeof setStage>>;
/** A file, and what it is signed. If its signature holds a time, no two signed ones are the same. */
export type Subject = Stage['subjects'][FormatId];

/** @param formats of the cases: the only ones that have a subject */
export async function setStage(formats: Iterable<FormatId>) {
  const server = await useServer({ tsa: true, bits: 2048 });
  const folder = await temporaryFolder('codesign-faults-');
  const authority = createTlsAuthority();
  const relayRoot = join(folder.path, 'relay-root.pem');
  await writeFile(relayRoot, authority.root);
  const subjectOf = async (format: FormatId) => {
    const { extension, make, ...more } = INPUTS[format];
    const name = `app.${extension}`;
    const path = join(folder.path, name);
    await writeFile(path, make());
    // A whole page, so that on a full disk there is no room for a byte more; behind an archive nothing may stand.
    if (format === 'pe') await truncate(path, PAGE);
    const original = await readFile(path);
    const run = await runCli(['sign', '--no-timestamp', path], { env: server.env });
    if (run.code !== 0) throw new Error(`the reference was not signed: ${run.stderr}`);
    return { name, original, signed: await readFile(path), isTimed: 'isTimed' in more };
  };
  const subjects = {} as Record<FormatId, Awaited<ReturnType<typeof subjectOf>>>;
  for (const format of formats) subjects[format] = await subjectOf(format);
  return {
    server,
    identity: authority.issue({ names: ['127.0.0.1'] }),
    /** PEM file with the root of the relays. */
    relayRoot,
    /** PEM file with the root of signers and authority. */
    root: server.roots,
    subjects,
    async [Symbol.asyncDispose]() {
      await server.stop();
      await folder[Symbol.asyncDispose]();
    },
  };
}
