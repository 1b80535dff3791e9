/** The command line against a service that misbehaves: exit code, error code, number of requests, files untouched. */

import { describe, expect, it } from 'vitest';
import { asSoonAs } from '../../../support/children.ts';
import { type CliOptions, parseJson, runCli, snapshot } from '../../../support/programs/cli.ts';
import { makePrograms, reports, startScene } from '../../../support/runs/resume-scene.ts';
import type { MisbehavingServiceOptions, ServiceMode } from '../../../support/services/misbehaving-service.ts';
import { ACCESS_SECRET } from '../../../support/services/service-client.ts';

/** `count` programs, and a service in `mode`. */
async function scene(mode: ServiceMode, count = 1, options: MisbehavingServiceOptions = {}) {
  const stage = await startScene(mode, options);
  const paths = await makePrograms(stage.folder, count);
  return {
    ...stage,
    sign: (args: readonly string[] = [], more: Record<string, string> = {}, onStart?: CliOptions['onStart']) =>
      runCli(['sign', '--json', ...args, ...paths], { env: { ...stage.env, ...more }, onStart }),
  };
}
type Scene = Awaited<ReturnType<typeof scene>>;

/** All files next to the programs. */
const sourcesIn = async ({ folder }: Scene) =>
  Object.entries(await snapshot(folder)).filter(([path]) => !path.startsWith(`${folder}/state/`));

/** Failures that end a batch: those of service-answers.test.ts concern one file. Rule 7.2 of the API names some of them. */
const STOPPING: readonly (readonly [ServiceMode, number, string, string, number | null, number])[] = [
  ['signature-not-base64', 5, 'business', 'signature-unreadable', 200, 1],
  ['signature-wrong', 6, 'local', 'signature-mismatch', null, 1],
  ['breaks-handshake', 3, 'network', 'service-unreachable', null, 0],
  ['no-tls', 3, 'network', 'tls-failed', null, 0],
  ['unauthorized-200', 5, 'business', 'unauthorized', 200, 1],
  ['unauthorized-401-page', 4, 'http', 'unauthorized', 401, 1],
  ['unauthorized-503', 4, 'http', 'unauthorized', 503, 1],
];

describe('a service that misbehaves', () => {
  it.each(STOPPING)(
    '%s: exit %i, %s %s under HTTP %s after %i requests, no file touched',
    async (mode, ...expected) => {
      const [exitCode, category, code, httpStatus, requests] = expected;
      await using stage = await scene(mode, 3);
      const untouched = await sourcesIn(stage);
      const run = await stage.sign(['--timeout', '2', '--concurrency', '3']);
      const { files, summary } = parseJson(run);
      expect(run.code).toBe(exitCode);
      expect(summary).toEqual({ signed: 0, skipped: 0, failed: 3, notAttempted: 2 });
      const [first, ...others] = files.map(({ error }) => error).sort((one) => (one?.code === code ? -1 : 1));
      expect(first).toMatchObject({ category, code, httpStatus, hint: expect.any(String) });
      for (const other of others) expect(other).toMatchObject({ category, code: 'not-attempted' });
      expect(stage.service.signRequests()).toBe(requests);
      expect(reports(stage)).toEqual(code.startsWith('signature') ? [2] : []);
      expect(await sourcesIn(stage)).toEqual(untouched);
      expect(run.stdout + run.stderr).not.toContain(ACCESS_SECRET);
    },
  );

  it('a 401 in the middle of many concurrently: only what was under way arrives, none of it is repeated', async () => {
    await using stage = await scene('unauthorized-503', 12, { after: 3 });
    const run = await stage.sign(['--concurrency', '4', '--no-report']);
    const codes = parseJson(run).files.map(({ status, error }) => error?.code ?? status);
    const count = (code: string) => codes.filter((one) => one === code).length;
    expect(count('signed')).toBe(3);
    expect(count('unauthorized')).toBeLessThanOrEqual(4);
    expect(count('signed') + count('unauthorized') + count('not-attempted')).toBe(12);
    expect(stage.service.signRequests()).toBe(3 + count('unauthorized'));
    expect(run.code).toBe(4);
  });
});

describe('the data about client and file in a request', () => {
  const MEMBERS = ['hostname', 'platform', 'revision', 'signing_filename', 'signing_filesize', 'time', 'version'];

  async function extraOf(args: readonly string[]) {
    await using stage = await scene('good');
    expect((await stage.sign(args)).code).toBe(0);
    return JSON.parse(stage.service.requests()[0]?.body ?? '').extra;
  }

  it('has all members, with the values that the user wants, and is left out if the user wants none of it', async () => {
    const values = await extraOf(['hostname=b=c', 'signing_filesize=12'].flatMap((one) => ['--extra', one]));
    expect(Object.keys(values).sort()).toEqual(MEMBERS);
    expect(values).toMatchObject({ hostname: 'b=c', signing_filesize: 12, signing_filename: 'app-0.exe' });
    expect(await extraOf(MEMBERS.flatMap((member) => ['--extra', `${member}=`]))).toBeUndefined();
  });
});

describe('an interrupted run', () => {
  /** Sends the signals, each after so many milliseconds, once the first request for a signature has arrived. */
  function interruptWith(stage: Scene, signals: readonly NodeJS.Signals[], times: readonly number[] = []) {
    return (kill: (signal: NodeJS.Signals) => void) => {
      const interrupt = () => signals.forEach((signal, index) => void setTimeout(kill, times[index] ?? 0, signal));
      asSoonAs(() => stage.service.signRequests() > 0, interrupt);
    };
  }

  const temporaryFiles = async (folder: string) =>
    Object.keys(await snapshot(folder)).filter((file) => file.endsWith('.tmp'));

  it.each<[string, readonly NodeJS.Signals[], number]>([
    ['SIGTERM', ['SIGTERM'], 143],
    ['SIGHUP', ['SIGHUP'], 143],
    ['SIGINT, which npm hands on a second time', ['SIGINT', 'SIGINT'], 130],
  ])('%s: finishes the call under way, starts nothing new', async (_, signals, exitCode) => {
    await using stage = await scene('good', 6);
    const run = await stage.sign(['-j', '1'], {}, interruptWith(stage, signals));
    expect(run.code).toBe(exitCode);
    // Whatever was requested was also written: no signature is lost.
    expect(parseJson(run).summary.signed).toBe(stage.service.signRequests());
    expect(stage.service.signRequests()).toBeLessThan(6);
    expect(await temporaryFiles(stage.folder)).toEqual([]);
  });

  it('does not open the inspector of Node.js on SIGUSR1', async () => {
    await using stage = await scene('good', 2);
    const run = await stage.sign(['-j', '1'], {}, interruptWith(stage, ['SIGUSR1']));
    expect(run.code).toBe(0);
    expect(run.stderr).not.toMatch(/debugger|inspector/i);
  });

  it('ends immediately on a later signal, unless it comes within a second, and leaves no temporary file', async () => {
    await using stage = await scene('hangs', 2);
    const untouched = await sourcesIn(stage);
    const interrupt = interruptWith(stage, ['SIGINT', 'SIGINT', 'SIGINT'], [0, 200, 1500]);
    // Longer than a test may take: a run that waits for an answer fails.
    const run = await stage.sign(['--timeout', '600'], {}, interrupt);
    expect(run.code).toBe(130);
    expect(run.stderr).toContain('the second interrupt was ignored');
    expect(run.stderr).toMatch(
      /^ended {4}1 signature may have been counted: no response had arrived\n.*: codesign-remote resume/m,
    );
    expect(await sourcesIn(stage)).toEqual(untouched);
  });
});
