// `npm run demo [-- file.exe …]` signs copies of programs with a key in an HSM (SoftHSM), through the real service over HTTPS,
// and verifies the results with other programs.
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { buildWhenStale } from '../scripts/fresh-build.mjs';
import { asScript, onPath } from '../scripts/run.mjs';
import { setUp } from '../scripts/set-up.mjs';
import { askJarsigner, askOsslsigncode, signAgain, signCopies } from './client.mjs';
import { chooseInputs, copyInputs } from './inputs.mjs';
import { startServices } from './service.mjs';

const USAGE = `Usage: npm run demo [-- file.exe …]

Signs copies of the programs given, or of two bundled ones, with a key in SoftHSM, through the real service over HTTPS,
with timestamps by a demonstration authority, and has the results checked. The originals stay as they are. The keys are made for the
demo and gone after it.`;

/** Verifiers of other projects, and the files that each checks. */
const VERIFIERS = [
  {
    format: 'pe',
    program: 'osslsigncode',
    needs: ['osslsigncode'],
    source: 'its package has the same name',
    ask: askOsslsigncode,
  },
  {
    format: 'jar',
    program: 'jarsigner',
    needs: ['jarsigner', 'keytool'],
    source: 'it comes with a JDK, such as default-jdk-headless',
    ask: askJarsigner,
  },
];

const say = (line) => console.log(line);
const sayDetail = (line) => console.log(`   ${line}`);

await asScript(async (args) => {
  if (args.includes('--help') || args.includes('-h')) return say(USAGE);
  const unknown = args.find((arg) => arg.startsWith('-'));
  if (unknown !== undefined) {
    console.error(`The demo has no option ${unknown}.\n\n${USAGE}`);
    return 2;
  }
  const inputs = await chooseInputs(args);

  say('1. Getting ready: npm packages, SoftHSM, the PKCS#11 addon, the build');
  await setUp({ say: sayDetail });
  await buildWhenStale(sayDetail);

  const interruption = untilInterrupted();
  const { folder, copies } = await copyInputs(inputs);
  let signed = [];
  let service;
  try {
    say('2. Starting the signing service and a timestamp authority');
    service = await startServices(interruption.signal);
    sayDetail(`It listens on ${service.url} and has made an RSA key inside SoftHSM, which never leaves it.`);
    sayDetail(`Timestamps (RFC 3161) come from ${service.environment.CODESIGN_TIMESTAMP_URL}, with a key of its own.`);
    const outcome = await show(service, folder, copies, interruption.signal);
    signed = outcome.signed;
    return interruption.exitCode() ?? outcome.exitCode;
  } catch (error) {
    const exitCode = interruption.exitCode();
    if (exitCode === undefined) throw error;
    say('Interrupted.');
    return exitCode;
  } finally {
    interruption.end();
    await service?.stop();
    if (service) say('5. Stopped both; their keys and their data are gone.');
    const kept = new Set(signed.map(({ file }) => file));
    for (const copy of copies) if (!kept.has(copy)) await rm(copy, { force: true });
    if (kept.size === 0) await rm(folder, { recursive: true, force: true });
    else sayWhereItIs(folder, [...kept]);
  }
});

/** Signs and verifies the copies, and prints each step. Returns the signed files and the exit code of the demo. */
async function show(service, folder, copies, signal) {
  say(
    `3. Signing ${copies.length === 1 ? 'a copy' : 'copies'} of ${copies.map((copy) => path.basename(copy)).join(', ')}`,
  );
  const sizes = new Map(await Promise.all(copies.map(async (copy) => [copy, (await stat(copy)).size])));
  const signing = await signCopies(service, copies, signal);
  for (const file of signing.failed) {
    sayDetail(`${path.basename(file.file)} was not signed: ${file.message}`);
    if (file.hint) sayDetail(`  ${file.hint}`);
  }
  for (const { file, algorithm, record, reported, timestamp, milliseconds } of signing.signed) {
    const grown = (await stat(file)).size;
    sayDetail(`${path.basename(file)}: ${sizes.get(file)} bytes became ${grown}, signed in ${milliseconds} ms.`);
    sayDetail(`  Only its ${algorithm} digest went to the service; the answer is signature record ${record}.`);
    sayDetail(
      timestamp
        ? `  A digest of the signature went to the authority, whose timestamp says ${timestamp}.`
        : '  It has no timestamp.',
    );
    sayDetail(
      `  The service ${reported ? 'received the report that the file is written' : 'did not receive a report'}.`,
    );
  }
  if (signing.signed.length === 0) return { signed: [], exitCode: signing.exitCode };

  say('4. Verifying the result');
  const roots = await Promise.all(service.roots.map((root) => readFile(root, 'utf8')));
  await writeFile(path.join(folder, 'demo-roots.crt'), roots.join(''));
  const rejected = await check('codesign-remote', signing.signed, () => signAgain(service, signing.signed, signal));
  for (const { format, program, needs, source, ask } of VERIFIERS) {
    const checked = signing.signed.filter((file) => file.format === format);
    if (checked.length === 0) continue;
    if (needs.every((name) => onPath(name) !== undefined)) {
      rejected.push(...(await check(program, checked, () => ask(service.roots, checked, signal))));
    } else {
      sayDetail(`${program} is not installed, so its opinion is missing (${source}).`);
    }
  }
  return { signed: signing.signed, exitCode: rejected.length > 0 ? 1 : signing.exitCode };
}

/** Prints the verdict of one verifier on each signed file. Returns the files that it rejects. */
async function check(program, signed, ask) {
  const verdicts = await ask();
  const rejected = verdicts.filter(({ why }) => why !== undefined);
  for (const { file, why } of rejected) sayDetail(`${program} REJECTS ${path.basename(file)}: ${why}`);
  const accepted = signed.length - rejected.length;
  if (accepted > 0) sayDetail(`${program} accepts ${accepted === 1 ? 'the signed file' : `${accepted} signed files`}.`);
  for (const said of new Set(verdicts.map(({ ofTimestamp }) => ofTimestamp))) if (said) sayDetail(`  It says: ${said}`);
  return rejected;
}

function sayWhereItIs(folder, files) {
  say('');
  say(`Signed: ${files.join('\n        ')}`);
  say(
    `Neither Windows nor Java will trust it: its certificates come from this demo's own roots, ${path.join(folder, 'demo-roots.crt')}`,
  );
  say('');
  say(
    'Next: npm run demo -- path/to/your.exe signs a copy of a program of yours; README.md tells how to sign with a real service.',
  );
}

/** The first SIGINT or SIGTERM aborts the current step, so that the service is stopped and its data removed. */
function untilInterrupted() {
  const controller = new AbortController();
  let exitCode;
  const heard = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };
  const handle = (signal) => {
    exitCode ??= heard[signal];
    controller.abort();
  };
  for (const signal of Object.keys(heard)) process.on(signal, handle);
  return {
    signal: controller.signal,
    exitCode: () => exitCode,
    end: () => {
      for (const signal of Object.keys(heard)) process.off(signal, handle);
    },
  };
}
