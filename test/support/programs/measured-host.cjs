// Runs the built command line again and again in one process, as measured-cli.ts asks for it, and says what each run used.
'use strict';

const { readFileSync, writeFileSync } = require('node:fs');
const { Readable, Writable } = require('node:stream');
const { main, runMain } = require('../../../dist/cli.cjs');

function collect() {
  const chunks = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      chunks.push(chunk);
      done();
    },
  });
  return { stream, text: () => Buffer.concat(chunks).toString() };
}

async function measure({ args, env }) {
  const [stdout, stderr] = [collect(), collect()];
  global.gc();
  // From here on VmHWM is the peak of this run.
  writeFileSync('/proc/self/clear_refs', '5');
  const before = process.cpuUsage();
  const code = await runMain(args, {
    stdin: Readable.from([]),
    stdout: stdout.stream,
    stderr: stderr.stream,
    env,
    clock: () => performance.now(),
    onSignal: () => () => undefined,
    outputFault: () => undefined,
    exit: (exitCode) => process.exit(exitCode),
    onSuccess: (work) => work(),
  });
  const { user, system } = process.cpuUsage(before);
  const peakBytes = 1024 * Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8'))[1]);
  const usage = { peakBytes, cpuMilliseconds: (user + system) / 1000 };
  return { code, stdout: stdout.text(), stderr: stderr.text(), usage };
}

// Sets V8 up as for a process of its own.
void main(['--version']).then(() => {
  process.on('message', async (job) => process.send(await measure(job)));
  process.send('ready');
});
