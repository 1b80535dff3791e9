import { composeStored } from '../../app/compose-config.ts';
import { openSigning } from '../../app/compose-signing.ts';
import { PROJECT_FILE } from '../../options/lookup.ts';
import { resolveSigning } from '../../options/resolve.ts';
import { checkProjectOutputs } from '../../options/stored/project-file.ts';
import { type OptionsOf, optionsOf } from '../../options/table.ts';
import { signFiles } from '../../signing/sign-files.ts';
import { expandInputs, resolveOutputs } from '../input/inputs.ts';
import type { Io } from '../io.ts';
import { changeConsole } from '../output/changes/change-console.ts';
import { checkChecksums, withoutChecksums } from '../output/checksums.ts';
import { maskedAddress, shellWord } from '../output/lines.ts';
import { runChanges } from './run-changes.ts';

/** Contains the options of this run that `resume` also needs. Returns undefined if there is no journal. */
export function resumeCommand(options: OptionsOf<'sign'>): string | undefined {
  if (options.journal === false) return undefined;
  const typed: Readonly<Record<string, unknown>> = { ...options };
  const words = optionsOf('resume').flatMap(({ key, flag, kind, isCommandLineOnly }) => {
    const value = typed[key];
    if (isCommandLineOnly || key === 'dryRun' || value === undefined) return [];
    if (kind === undefined) return value === flag.startsWith('--no-') ? [] : [flag];
    return [value].flat().flatMap((one) => [flag, shellWord(maskedAddress(String(one)))]);
  });
  return ['codesign-remote resume', ...words].join(' ');
}

export async function sign(named: readonly string[], options: OptionsOf<'sign'>, io: Io): Promise<number> {
  const stored = await composeStored(options, io.env);
  const settings = resolveSigning(options, io.env, stored);
  const { look, output, checksums, auditLog } = settings;
  const isInside = options.inside === true || options.policy !== undefined;
  const isRecursive = isInside || options.recursive === true;
  const expanded = await expandInputs(named, { ...options, output, recursive: isRecursive }, io);
  const inputs = checksums === undefined ? expanded : withoutChecksums(expanded, checksums);
  using console = changeConsole(io, options, 'signed', resumeCommand(options));
  const fileDigests = options.json === true || checksums !== undefined;
  await using signing = await openSigning({ ...settings, fileDigests }, io, console.event);
  for (const warning of signing.warnings) console.warning(warning);
  const files = resolveOutputs(inputs, output);
  if (stored.project !== undefined && look.one('output')?.origin === PROJECT_FILE) {
    checkProjectOutputs(
      stored.project.path,
      files.map((file) => file.output),
    );
  }
  if (checksums !== undefined) {
    await checkChecksums(checksums, [...files, ...(auditLog ? [{ path: auditLog, output: auditLog }] : [])]);
  }
  const run = { console, options, io, opened: signing, noteEnd: signing.noteEnd };
  return await runChanges({ ...run, checksums: settings.dryRun ? undefined : checksums }, (signal) =>
    signFiles(files, signing, signal),
  );
}
