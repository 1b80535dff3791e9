// Loaded into a measured process ahead of the program: leaves what it used in a file when it ends.
'use strict';

const { readFileSync, writeFileSync } = require('node:fs');
const { Module } = require('node:module');
const { sep } = require('node:path');

const sources = { files: 0, bytes: 0 };
const compile = Module.prototype._compile;
Module.prototype._compile = function (source, file, ...rest) {
  if (file.includes(`${sep}dist${sep}`)) {
    sources.files += 1;
    sources.bytes += Buffer.byteLength(source);
  }
  return compile.call(this, source, file, ...rest);
};

process.on('exit', () => {
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  const status = readFileSync('/proc/self/status', 'utf8');
  const io = readFileSync('/proc/self/io', 'utf8');
  const usage = {
    // The maxRSS of Linux begins with that of the process that started this one, which holds all of the tests' files.
    peakBytes: 1024 * Number(/^VmHWM:\s+(\d+) kB/m.exec(status)[1]),
    cpuMilliseconds: (userCPUTime + systemCPUTime) / 1000,
    readBytes: Number(/^rchar: (\d+)/m.exec(io)[1]),
    writtenBytes: Number(/^wchar: (\d+)/m.exec(io)[1]),
    sources,
  };
  writeFileSync(process.env.USAGE_FILE, JSON.stringify(usage));
});
