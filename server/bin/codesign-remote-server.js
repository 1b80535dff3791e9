#!/usr/bin/env node
// CommonJS, which is read before anything else uses Node's thread pool: its size cannot change from then on.
// What signs in software has a thread for each core then: with fewer, cores stand idle; with more, they take the turns
// of the thread that serves everybody. A network HSM may want more.
process.env.UV_THREADPOOL_SIZE ??= `${Math.max(2, require('node:os').availableParallelism())}`;

void import('../dist/main.js');
