// The step of the action that signs: inputs come in SIGN_ variables, the rest in the environment as the program knows it.
// What was done goes to GITHUB_OUTPUT and GITHUB_STEP_SUMMARY. It fails only when the program could not be run: how signing
// went is in the output exit-code, so that the state folder is kept before the job ends.
import { spawn } from 'node:child_process';
import { appendFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

const { env } = process;
const temporary = env.RUNNER_TEMP;
const program = path.join(temporary, 'codesign-remote/node_modules/codesign-remote/bin/codesign-remote.js');
const json = path.join(temporary, 'codesign-signing.json');

const lines = (text = '') =>
  text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');

// An input wins over the environment of the job; an empty one counts as not given.
const settings = { ...env };
for (const name of ['BASE_URL', 'CODE', 'CERTIFICATE', 'TIMESTAMP_URL', 'ALGORITHM']) {
  if (env[`SIGN_${name}`]) settings[`CODESIGN_${name}`] = env[`SIGN_${name}`];
}

/** Gives the exit code and standard output; the program's words for people go to the log. */
async function run(...args) {
  const child = spawn(process.execPath, [program, ...args], { env: settings, stdio: ['ignore', 'pipe', 'inherit'] });
  // A cancelled job: the program ends in order, so that its state is whole.
  const pass = (signal) => child.kill(signal);
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, pass);
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text;
  });
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  for (const signal of ['SIGINT', 'SIGTERM']) process.off(signal, pass);
  return { code: code ?? 1, stdout };
}

/** Whether nothing is left of this run and of those before it: files, reports, calls of which nobody knows the outcome. */
async function finishRest() {
  // Not because no authority is in the environment: a profile, the project's file or an argument may name one. Where
  // `resume` knows none, what it would have to write is kept.
  const { code, stdout } = await run('resume', '--json', ...signArguments.filter((text) => text === '--no-timestamp'));
  if (code !== 0) return false;
  return JSON.parse(stdout).calls.every(({ status }) => status === 'finished');
}

/** For a table's cell: names of files are anybody's. */
const cell = (text) =>
  String(text).replaceAll(/[^\p{L}\p{N} ._/:()-]/gu, (character) => `&#${character.codePointAt(0)};`);

function summaryOf({ files = [], error }) {
  if (error) return `Nothing was signed: ${cell(error.message)} (${cell(error.code)})\n`;
  const rows = files.map(({ path: file, status, record, error: reason }) =>
    [file, status, record ?? '', reason ? `${reason.message} (${reason.code})` : ''].map(cell).join(' | '),
  );
  return `| file | status | record | |\n|---|---|---|---|\n${rows.map((row) => `| ${row} |\n`).join('')}`;
}

const signArguments = lines(env.SIGN_ARGUMENTS);
const skip = env.SIGN_SKIP_SIGNED === 'true' ? ['--skip-signed'] : [];
// `sign` first: it uses the signatures that an earlier attempt left, also for files that were built again since.
const { code, stdout } = await run('sign', '--json', ...skip, ...signArguments, '--', ...lines(env.SIGN_FILES));
await writeFile(json, stdout);
const document = stdout === '' ? {} : JSON.parse(stdout);
const isFinished = code === 0 && (await finishRest());

const { signed = 0, skipped = 0, failed = 0 } = document.summary ?? {};
const outputs = { signed, skipped, failed, json, 'exit-code': code, keep: !isFinished };
const text = Object.entries(outputs).map(([name, value]) => `${name}=${value}\n`);
await appendFile(env.GITHUB_OUTPUT, text.join(''));
await appendFile(env.GITHUB_STEP_SUMMARY, summaryOf(document));
