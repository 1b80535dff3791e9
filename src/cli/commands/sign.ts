import { resolve } from 'node:path';
import { composeStored } from '../../app/compose-config.ts';
import { composeSigning } from '../../app/compose-signing.ts';
import { identityAt } from '../../files/input-file.ts';
import { readOutput } from '../../options/commands/common.ts';
import { resolveSettings } from '../../options/commands/sign.ts';
import { checkProjectOutputs } from '../../options/stored/project-output.ts';
import { type OptionsOf, optionsOf } from '../../options/table.ts';
import { cliErrors } from '../errors.ts';
import type { Io } from '../io.ts';
import { inputsOf, runChanges } from './run-changes.ts';

/** With the options of this run that `resume` needs too; undefined without a journal. Exported for tests. */
export function resumeCommand(options: OptionsOf<'sign'> | OptionsOf<'catalog'>): string | undefined {
  if (options.journal === false) return undefined;
  const typed: Readonly<Record<string, unknown>> = { ...options };
  const words = optionsOf('resume').flatMap(({ key, flag, kind, isCommandLineOnly }) => {
    const value = typed[key];
    if (isCommandLineOnly || key === 'dryRun' || value === undefined) return [];
    if (kind === undefined) return value === flag.startsWith('--no-') ? [] : [flag];
    return [value].flat().flatMap((one) => [flag, quoted(String(one))]);
  });
  return ['codesign-remote resume', ...words].join(' ');
}

function quoted(word: string): string {
  return /^[\w@%+=:,./\\-]+$/.test(word) ? word : `"${word.replace(/["$`]/g, '\\$&')}"`;
}

/** Returns the exit code. Throws what makes the whole run impossible: usage, settings, the certificate. */
export async function sign(named: readonly string[], options: OptionsOf<'sign'>, io: Io): Promise<number> {
  const settings = resolveSettings(options, io.env, await composeStored(options, io.env));
  const { output, projectOutput } = settings;
  return runChanges(
    {
      verb: 'signed',
      resumeCommand: resumeCommand(options),
      inputs: await inputsOf(named, options, output, io),
      output,
      async compose(onEvent) {
        const signing = await composeSigning(settings, io.env, onEvent);
        return { ...signing, changeFiles: signing.signFiles };
      },
      checkOutputs(files) {
        if (projectOutput === undefined) return;
        const outputs = files.map((file) => resolve(file.output));
        checkProjectOutputs(projectOutput, outputs);
      },
    },
    options,
    io,
  );
}

/** `codesign-remote catalog`: a security catalog is created, and signed as a file that is there. Returns the exit code. Throws what makes the whole run impossible: usage, settings, the certificate. */
export async function catalog(named: readonly string[], options: OptionsOf<'catalog'>, io: Io): Promise<number> {
  const output = readOutput(options.output);
  if (output === undefined) throw cliErrors('catalog-output-missing');
  const settings = resolveSettings(options, io.env, await composeStored(options, io.env));
  const files = await inputsOf(named, options, undefined, io, true);
  const before = identityAt(output);
  const members = files.map(({ path }) => path).filter((path) => before === undefined || identityAt(path) !== before);
  if (members.length === 0) throw cliErrors('no-files');
  return runChanges(
    {
      verb: 'signed',
      resumeCommand: resumeCommand(options),
      inputs: [{ path: output, pathInFolder: undefined }],
      output: undefined,
      async compose(onEvent) {
        const signing = await composeSigning(settings, io.env, onEvent);
        return {
          ...signing,
          changeFiles: ([file], signal) => signing.signFiles(file === undefined ? [] : [{ ...file, members }], signal),
        };
      },
    },
    options,
    io,
  );
}
