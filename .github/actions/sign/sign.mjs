// The step of the action that signs. Inputs come in SIGN_ variables; other variables are those of the program, which writes the
// annotations and the job summary. A failed signing run does not fail this step: the next steps keep the state folder first,
// and the last one ends with the output exit-code.
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

// An input takes precedence over the environment of the job. An empty input counts as not given.
const settings = { ...env };
for (const name of ['BASE_URL', 'CODE', 'CERTIFICATE', 'TIMESTAMP_URL', 'ALGORITHM']) {
  if (env[`SIGN_${name}`]) settings[`CODESIGN_${name}`] = env[`SIGN_${name}`];
}

/** Returns the exit code and standard output. Standard error goes to the log. */
async function run(...args) {
  const child = spawn(process.execPath, [program, ...args], { env: settings, stdio: ['ignore', 'pipe', 'inherit'] });
  // If the job is cancelled, the program stops and leaves a complete state folder.
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

/** Whether this run and earlier ones left no unwritten file, no unsent report and no call with an unknown outcome. */
async function finishRest() {
  // --no-timestamp only if it was given: a profile, a project file or an argument may name an authority. Without one,
  // `resume` keeps the signatures of files that need a timestamp.
  const { code, stdout } = await run('resume', '--json', ...signArguments.filter((text) => text === '--no-timestamp'));
  if (code !== 0) return false;
  return JSON.parse(stdout).calls.every(({ status }) => status === 'finished');
}

/** Text from outside without a meaning in Markdown. */
const plain = (text) => text.replaceAll(/[^\p{L}\p{N} ._/:()-]/gu, (character) => `&#${character.codePointAt(0)};`);

const signArguments = lines(env.SIGN_ARGUMENTS);
const isVerifyOnly = env.SIGN_VERIFY_ONLY === 'true';
const skip = env.SIGN_SKIP_SIGNED === 'true' ? ['--skip-signed'] : [];
// `sign` runs before `resume`, because it uses signatures of an earlier attempt also for files that were built again.
const command = isVerifyOnly ? ['verify', '--inside'] : ['sign', ...skip];
const { code, stdout } = await run(...command, '--json', ...signArguments, '--', ...lines(env.SIGN_FILES));
await writeFile(json, stdout);
const document = stdout === '' ? {} : JSON.parse(stdout);
const isFinished = isVerifyOnly || (code === 0 && (await finishRest()));

const { inside, ...whole } = document.summary ?? {};
const { signed = 0, skipped = 0, failed = 0 } = inside ?? whole;
const outputs = { signed, skipped, failed, json, 'exit-code': code, keep: !isFinished };
const text = Object.entries(outputs).map(([name, value]) => `${name}=${value}\n`);
await appendFile(env.GITHUB_OUTPUT, text.join(''));
// The program wrote the summary of all other runs.
const { error } = document;
if (error)
  await appendFile(
    env.GITHUB_STEP_SUMMARY,
    `Nothing was ${isVerifyOnly ? 'verified' : 'signed'}: ${plain(error.message)} (${error.code})\n`,
  );
