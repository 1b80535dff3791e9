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

/** Our own check: `--skip-signed` leaves a file alone only when it holds an intact signature by this certificate. */
export async function signAgain(service, signed, signal) {
  const { report } = await sign(
    service,
    ['--skip-signed'],
    signed.map(({ file }) => file),
    signal,
  );
  return report.files
    .filter(({ status }) => status !== 'skipped')
    .map(({ path, status, error }) => ({ file: path, why: error?.message ?? `found no intact signature (${status})` }));
}

/** Gives the files that `osslsigncode verify` does not accept under the given root. */
export async function askOsslsigncode(root, signed, signal) {
  const rejected = [];
  for (const { file } of signed) {
    const { code, output } = await run('osslsigncode', ['verify', '-CAfile', root, '-in', file], { signal });
    if (code !== 0) rejected.push({ file, why: output.trim() });
  }
  return rejected;
}

/** Gives the files that `jarsigner -verify -strict` does not accept with the given root as the one it trusts. */
export async function askJarsigner(root, signed, signal) {
  const folder = await mkdtemp(path.join(tmpdir(), 'codesign-remote-demo-trust-'));
  try {
    const store = ['-keystore', path.join(folder, 'trust.p12'), '-storepass', 'changeit'];
    await run('keytool', ['-importcert', '-noprompt', '-alias', 'root', '-file', root, ...store], { signal });
    const rejected = [];
    for (const { file } of signed) {
      const { code, output } = await run('jarsigner', ['-verify', '-strict', ...store, file], { signal });
      if (code !== 0 || !/^jar verified\./m.test(output)) rejected.push({ file, why: output.trim() });
    }
    return rejected;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
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
