// The programs that the demo runs: `codesign-remote sign` signs and finds its own signature again; osslsigncode and jarsigner
// verify.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { run, ScriptError } from '../scripts/run.mjs';

const program = fileURLToPath(new URL('../../bin/codesign-remote.js', import.meta.url));

/** Signs the files in place. Returns the signed files, the failed ones with their reason, and the exit code. */
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
 * Verifiers return a verdict for each file: `why` it is rejected (undefined if it is accepted), and what they print about its
 * timestamp.
 */

/** `--skip-signed` skips a file only if it has an intact signature by this certificate. */
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

/** `osslsigncode verify`, under the given roots of signatures and of timestamps. */
export async function askOsslsigncode([root, timestampRoot], signed, signal) {
  const verdicts = [];
  for (const { file, timestamp } of signed) {
    const args = ['verify', '-CAfile', root, '-TSA-CAfile', timestampRoot, '-in', file];
    const { code, output } = await run('osslsigncode', args, { signal });
    // It accepts a file whose timestamp is wrong.
    const ofTimestamp = /^Timestamp Server Signature verification: ok$/m.exec(output)?.[0];
    verdicts.push(verdictOn(file, code === 0, timestamp, ofTimestamp, output));
  }
  return verdicts;
}

/** `jarsigner -verify -strict`, with the given roots as those that it trusts. */
export async function askJarsigner(roots, signed, signal) {
  const folder = await mkdtemp(path.join(tmpdir(), 'codesign-remote-demo-trust-'));
  try {
    const store = ['-keystore', path.join(folder, 'trust.p12'), '-storepass', 'changeit'];
    for (const [index, root] of roots.entries()) {
      await run('keytool', ['-importcert', '-noprompt', '-alias', `root-${index}`, '-file', root, ...store], {
        signal,
      });
    }
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

/** A file that should have a timestamp is accepted only if the verifier reports one. */
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
    // There is no JSON document: show the output instead.
  }
  throw new ScriptError(`codesign-remote sign ended with exit code ${code}:\n${output.trim()}`);
}
