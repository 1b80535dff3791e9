// What the demo asks of others: `codesign-remote sign` to sign, and to find its own signature again; osslsigncode and
// jarsigner to verify.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { run, ScriptError } from '../scripts/run.mjs';

const program = fileURLToPath(new URL('../../bin/codesign-remote.js', import.meta.url));

/** Signs the files in place. Gives those signed, those that failed with the reason, and the command's exit code. */
export async function signCopies(service, files, signal) {
  const { code, report } = await sign(service, [], files, signal);
  const results = report.files.map((result) => ({ ...result, file: result.path }));
  return {
    exitCode: code,
    signed: results.filter(({ status }) => status === 'signed'),
    failed: results.filter(({ status }) => status === 'failed').map(({ file, error }) => ({ file, ...error })),
  };
}

/*
 * The judges give a verdict on each file: `why` it is rejected, undefined where it is accepted, and what they say of its
 * timestamp, in their own words.
 */

/** Our own check: `--skip-signed` leaves a file alone only when it holds an intact signature by this certificate. */
export async function signAgain(service, signed, signal) {
  const { report } = await sign(
    service,
    ['--skip-signed'],
    signed.map(({ file }) => file),
    signal,
  );
  return report.files.map(({ path, status, error }) => ({
    file: path,
    why: status === 'skipped' ? undefined : (error?.message ?? `found no intact signature (${status})`),
  }));
}

/** `osslsigncode verify`, under the given root for signatures and timestamps. */
export async function askOsslsigncode(root, signed, signal) {
  const verdicts = [];
  for (const { file, timestamp } of signed) {
    const args = ['verify', '-CAfile', root, '-TSA-CAfile', root, '-in', file];
    const { code, output } = await run('osslsigncode', args, { signal });
    // What is wrong with a timestamp alone does not make it fail.
    const ofTimestamp = /^Timestamp Server Signature verification: ok$/m.exec(output)?.[0];
    verdicts.push(verdictOn(file, code === 0, timestamp, ofTimestamp, output));
  }
  return verdicts;
}

/** `jarsigner -verify -strict`, with the given root as the one it trusts. */
export async function askJarsigner(root, signed, signal) {
  const folder = await mkdtemp(path.join(tmpdir(), 'codesign-remote-demo-trust-'));
  try {
    const store = ['-keystore', path.join(folder, 'trust.p12'), '-storepass', 'changeit'];
    await run('keytool', ['-importcert', '-noprompt', '-alias', 'root', '-file', root, ...store], { signal });
    const verdicts = [];
    for (const { file, timestamp } of signed) {
      const args = ['-J-Duser.language=en', '-verify', '-strict', '-verbose', ...store, file];
      const { code, output } = await run('jarsigner', args, { signal });
      const ofTimestamp = /^ *(Timestamped by .*)$/m.exec(output)?.[1];
      verdicts.push(verdictOn(file, code === 0 && /^jar verified\./m.test(output), timestamp, ofTimestamp, output));
    }
    return verdicts;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A file that was said to have a timestamp is accepted only with what the judge says of it. */
function verdictOn(file, accepted, timestamp, ofTimestamp, output) {
  const lacking = timestamp && ofTimestamp === undefined ? 'it finds no good timestamp\n' : '';
  return { file, why: accepted && lacking === '' ? undefined : lacking + output.trim(), ofTimestamp };
}

async function sign(service, options, files, signal) {
  const args = [program, 'sign', '--json', '--quiet', ...options, ...files];
  const { code, stdout, output } = await run(process.execPath, args, { env: service.environment, signal });
  try {
    const report = JSON.parse(stdout);
    if (report.files) return { code, report };
  } catch {
    // No document at all: what was said instead follows.
  }
  throw new ScriptError(`codesign-remote sign ended with exit code ${code}:\n${output.trim()}`);
}
