// Runs vitest with its usual output and counts what passed and failed, from its own JSON report.
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Gives { passed, failed, skipped }. A run in which no test ran, or that failed without a failed test, counts as one failure. */
export async function runVitest(args, env = process.env) {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'codesign-remote-vitest-'));
  const reportFile = path.join(folder, 'report.json');
  try {
    const vitest = path.join(root, 'node_modules', 'vitest', 'vitest.mjs');
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${reportFile}`];
    const child = spawn(process.execPath, [vitest, 'run', ...reporters, ...args], { cwd: root, env, stdio: 'inherit' });
    const code = await new Promise((resolve) => child.once('close', (exitCode) => resolve(exitCode ?? 1)));
    return count(await readFile(reportFile, 'utf8').then(JSON.parse, () => undefined), code);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function count(report, code) {
  if (report === undefined) return { passed: 0, failed: 1, skipped: 0 };
  const passed = report.numPassedTests;
  const skipped = report.numPendingTests + report.numTodoTests;
  // A file that cannot be loaded holds no failed test, and neither does an error outside every test.
  const brokenFiles = report.testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  );
  const failed = report.numFailedTests + brokenFiles.length;
  const isSilentFailure = failed === 0 && (code !== 0 || passed === 0);
  return { passed, failed: isSilentFailure ? 1 : failed, skipped };
}
