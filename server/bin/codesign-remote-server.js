#!/usr/bin/env node
// CommonJS, which is read before anything else uses Node's thread pool: its size cannot change from then on.
// An HSM in software then has one thread per core: with fewer, cores are idle; with more, they slow down the main thread.
// A network HSM may need more threads.
process.env.UV_THREADPOOL_SIZE ??= `${Math.max(2, require('node:os').availableParallelism())}`;

void import('../dist/main.js');
