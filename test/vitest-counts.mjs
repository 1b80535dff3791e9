// Runs vitest with its usual output and counts what passed and failed, from its own JSON report.
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * Gives { passed, failed, skipped }, after a line for each failure: a sum at the end of a long output says nothing otherwise.
 * A run in which no test ran, or that failed without a failed test, counts as one failure.
 */
export async function runVitest(args, env = process.env) {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'codesign-remote-vitest-'));
  const reportFile = path.join(folder, 'report.json');
  try {
    const vitest = path.join(root, 'node_modules', 'vitest', 'vitest.mjs');
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${reportFile}`];
    const child = spawn(process.execPath, [vitest, 'run', ...reporters, ...args], { cwd: root, env, stdio: 'inherit' });
    const code = await new Promise((resolve) => child.once('close', (exitCode) => resolve(exitCode ?? 1)));
    const report = await readFile(reportFile, 'utf8').then(JSON.parse, () => undefined);
    const lines = failures(report);
    const counts = count(report, code);
    if (counts.failed > lines.length) lines.push(`FAILED vitest, with exit code ${code}: see the errors above`);
    for (const line of lines) console.log(line);
    return counts;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

// A file that cannot be loaded holds no failed test, and neither does an error outside every test.
function isBroken({ status, assertionResults }) {
  return status === 'failed' && !assertionResults.some((test) => test.status === 'failed');
}

function failures(report) {
  return (report?.testResults ?? []).flatMap((file) => {
    const name = path.relative(root, file.name);
    if (isBroken(file)) return [`FAILED ${name}: ${firstLine(file.message)}`];
    return file.assertionResults
      .filter((test) => test.status === 'failed')
      .map((test) => `FAILED ${name}: ${test.fullName}: ${firstLine(test.failureMessages[0])}`);
  });
}

function firstLine(message = '') {
  return message.split('\n', 1)[0];
}

function count(report, code) {
  if (report === undefined) return { passed: 0, failed: 1, skipped: 0 };
  const passed = report.numPassedTests;
  const skipped = report.numPendingTests + report.numTodoTests;
  const failed = report.numFailedTests + report.testResults.filter(isBroken).length;
  const isSilentFailure = failed === 0 && (code !== 0 || passed === 0);
  return { passed, failed: isSilentFailure ? 1 : failed, skipped };
}
