// Loaded into a measured process ahead of the program: leaves what it used in a file when it ends.
'use strict';

const { readFileSync, writeFileSync } = require('node:fs');

process.on('exit', () => {
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  // The maxRSS of Linux begins with that of the process that started this one, which holds all of the tests' files.
  const peakBytes = 1024 * Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8'))[1]);
  writeFileSync(
    process.env.USAGE_FILE,
    JSON.stringify({ peakBytes, cpuMilliseconds: (userCPUTime + systemCPUTime) / 1000 }),
  );
});
