/** Runs one case of the fault matrix to its end: `sign` with the fault, `resume`, and `sign` again where that is what its user does. */

import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type CliRun, runCli, temporaryFolder } from '../../support/programs/cli.ts';
import { mountSmallDisk, type SmallDisk } from '../../support/programs/small-disk.ts';
import { type FaultyRelay, startFaultyRelay } from '../../support/services/faulty-relay.ts';
import { isOriginalSigned } from '../../support/signed-files/timed-signature.ts';
import { lookForWrongs } from './invariants.ts';
import type { FileState, Observed, Row } from './row.ts';
import type { FormatId, Stage, Subject } from './stage.ts';
import { PRELOAD } from './trace.ts';

const DISK_SIZE = '1m';

export type Scene = ReturnType<typeof makeScene>;

/** `effect` is one of the row's variants. */
export async function runCourse(row: Row, effect: string, format: FormatId, stage: Stage): Promise<Observed> {
  await using folder = await temporaryFolder('codesign-fault-');
  const inside = (...names: string[]): string => join(folder.path, ...names);
  await mkdir(inside('disk'));
  await mkdir(inside('journal'));
  const diskFolder = row.disk === 'journal' ? inside('journal') : inside('disk');
  await using disk = row.disk === undefined ? undefined : await mountSmallDisk(diskFolder, DISK_SIZE);
  const { baseUrl, caFile, env } = stage.server;
  const timestampUrl = env.CODESIGN_TIMESTAMP_URL ?? '';
  const upstream = { baseUrl, ca: await readFile(caFile, 'utf8'), timestampUrl };
  await using relay = await startFaultyRelay(stage.identity, upstream, row.network);

  const outside = (path: string): string => disk?.seenFromOutside(path) ?? path;
  const subject = stage.subjects[format];
  const input = inside('disk', 'files', subject.name);
  const path = row.toOutput ? inside('disk', 'files', `signed-${subject.name}`) : input;
  const toSign = row.toOutput ? [input, '-o', path] : [path];
  await mkdir(outside(inside('disk', 'files')));
  await writeFile(outside(input), subject.original, { mode: 0o644 });
  const scene = makeScene({ row, stage, relay, subject, disk, path, state: inside('journal', 'state'), outside });

  const timestamp = row.timestamp ? ['-t', `${relay.baseUrl}/tsa`] : ['--no-timestamp'];
  const fill = join(diskFolder, 'fill');
  const planted = { CODESIGN_TEST_FAULT: `${row.files}:${effect}`, CODESIGN_TEST_FAULT_FILL: fill };
  const stamping = row.settings?.CODESIGN_TIMESTAMP_URL ? [] : timestamp;
  const first = await scene.run(['sign', '--timeout', `${row.timeout ?? 30}`, ...stamping, ...toSign], {
    ...row.settings,
    ...(row.files === undefined ? {} : planted),
  });
  const asked = relay.asked('sign');
  const counted = relay.records.length;
  const file = await scene.fileState();
  await rm(outside(fill), { force: true });
  relay.heal();

  const resumed = await scene.run(
    ['resume', ...timestamp],
    row.resumeFault === undefined ? {} : { CODESIGN_TEST_FAULT: row.resumeFault },
  );
  const resumedDocument = documentOf(resumed);
  const afterResume = await scene.fileState();
  const wrongs: string[] = [];
  if (relay.records.length !== counted) wrongs.push('resume asked for a signature');

  const runs = [first, resumed];
  let again = '–';
  if (afterResume !== 'signed') {
    const signAgain = async (): Promise<string> => {
      const run = await scene.run(['sign', ...timestamp, ...toSign]);
      runs.push(run);
      return describeAgain(run);
    };
    again = await signAgain();
    if (again.endsWith('signature-mismatch')) {
      const ids = (resumedDocument.calls ?? []).map(({ id }) => id);
      runs.push(await scene.run(['resume', '--forget', ...ids]));
      again += `; given up: ${await signAgain()}`;
    }
  }
  wrongs.push(...(await lookForWrongs(scene, runs)));
  const [outcome] = documentOf(first).files ?? [];
  if ((first.code === 0) !== (file === 'signed')) wrongs.push(`sign ended with ${first.code}, and the file is ${file}`);
  const isFinished = file !== 'signed' && afterResume === 'signed';
  if ((outcome?.kept ?? false) !== isFinished) wrongs.push(`sign said of the signature, kept: ${outcome?.kept}`);
  return {
    exit: first.code,
    error: errorOf(first),
    asked,
    counted,
    file,
    resume: describeResume(resumed, resumedDocument),
    afterResume,
    again,
    total: relay.records.length,
    wrongs: withoutExpected(wrongs, row.leaves),
  };
}

function withoutExpected(wrongs: readonly string[], leaves: RegExp | undefined): readonly string[] {
  if (leaves === undefined) return wrongs;
  const others = wrongs.filter((wrong) => !leaves.test(wrong));
  return others.length < wrongs.length ? others : [...others, `nothing like ${leaves} was left`];
}

interface SceneParts {
  readonly stage: Stage;
  readonly relay: FaultyRelay;
  readonly subject: Subject;
  readonly state: string;
  readonly row: Row;
  readonly disk: SmallDisk | undefined;
  readonly path: string;
  readonly outside: (path: string) => string;
}

function makeScene({ row, stage, relay, subject, disk, path, state, outside }: SceneParts) {
  const env = {
    ...stage.server.env,
    CODESIGN_BASE_URL: relay.baseUrl,
    CODESIGN_CA_FILE: stage.relayRoot,
    CODESIGN_TIMESTAMP_URL: '',
    CODESIGN_STATE_DIR: state,
  };
  const timestamp = row.timestamp ?? false;
  /** Runs a command with the scene's journal and service. */
  const run = ([command = '', ...args]: readonly string[], more: Readonly<Record<string, string>> = {}) =>
    runCli([command, '--json', ...args], {
      // A run without a fault needs no process of its own.
      env: { ...env, ...more, ...('CODESIGN_TEST_FAULT' in more ? { NODE_OPTIONS: `--require ${PRELOAD}` } : {}) },
      ...(disk === undefined ? {} : { through: disk.through }),
    });
  return {
    stage,
    relay,
    subject,
    timestamp,
    // As this process sees them.
    files: outside(join(path, '..')),
    state: outside(state),
    run,
    async fileState(): Promise<FileState> {
      const bytes = await readFile(outside(path)).catch(() => undefined);
      if (bytes === undefined) return 'missing';
      if (bytes.equals(subject.original)) return 'original';
      if (subject.isTimed) {
        const how = { roots: stage.root, requireTimestamp: timestamp };
        return (await isOriginalSigned(outside(path), subject.original, how)) ? 'signed' : 'damaged';
      }
      if (!timestamp) return bytes.equals(subject.signed) ? 'signed' : 'damaged';
      // No two timestamps are alike.
      const verified = await run(['verify', '--roots', stage.root, '--require-timestamp', path]);
      return verified.code === 0 ? 'signed' : 'damaged';
    },
  };
}

interface Failing {
  readonly error?: { readonly code: string };
}

interface Document extends Failing {
  readonly files?: readonly (Failing & { readonly reused?: boolean; readonly kept?: boolean })[];
  readonly calls?: readonly (Failing & { readonly id: string; readonly kind: string; readonly status: string })[];
}

function documentOf({ stdout }: CliRun): Document {
  return stdout === '' ? {} : JSON.parse(stdout);
}

function errorOf(run: CliRun): string | null {
  const { error, files } = documentOf(run);
  return error?.code ?? files?.[0]?.error?.code ?? null;
}

function describeResume({ code }: CliRun, { error, calls = [] }: Document): string {
  if (error) return `${code}, ${error.code}`;
  const each = calls.map((call) => `${call.kind}: ${call.status}${call.error ? ` (${call.error.code})` : ''}`);
  return `${code}, ${each.length === 0 ? 'nothing' : each.join(', ')}`;
}

function describeAgain(run: CliRun): string {
  const [file] = documentOf(run).files ?? [];
  const how = file?.reused ? 'reused' : 'asked';
  const warns = run.stderr.includes('may have been counted') ? ', warns' : '';
  return run.code === 0 ? `0, ${how}${warns}` : `${run.code}, ${errorOf(run)}`;
}
