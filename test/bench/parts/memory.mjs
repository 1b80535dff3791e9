// What signatures leave in the bundled server's memory: a new server each time, looked at after 1,000 of them and after 100,000.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serverSources } from '../from-source.mjs';
import { median, table } from '../measure.mjs';
import { loadInStages, makeData, settledMemory, startServer } from '../server/running.mjs';

const STORES = ['SQLite', 'PostgreSQL'];
/** Kept ones, the same before and after; so few that each has the buffers that it will ever have when it is first looked at, after some twenty calls. */
const CONNECTIONS = 48;
const [FEW, MANY] = [1000, 100_000];

export const title = 'Server: memory after signatures';

/** @returns the table. */
export async function bench(rounds) {
  const folder = await mkdtemp(join(tmpdir(), 'codesign-bench-memory-'));
  const source = await serverSources();
  const postgres = await source.startPostgres({ flushes: true });
  try {
    const found = Object.fromEntries(STORES.map((store) => [store, []]));
    for (let round = 1; round <= rounds; round++) {
      for (const store of STORES) {
        const database = store === 'SQLite' ? undefined : await postgres.newDatabase();
        found[store].push(await grow(join(folder, `${store}-${round}`), database, source.SIGN_PATH));
        process.stderr.write(`round ${round} of ${rounds}, ${store}: ${JSON.stringify(found[store].at(-1))}\n`);
      }
    }
    const rows = STORES.map((store) => {
      const [few, many, growth] = ['few', 'many', 'growth'].map((what) => found[store].map((round) => round[what]));
      return [store, ...[few, many, growth].map((bytes) => inMebibytes(median(bytes))), spread(growth)];
    });
    const after = (signatures) => `after ${signatures.toLocaleString('en')} signatures`;
    const head = ['store', after(FEW), after(MANY), 'more, median', 'least–most'];
    return table(head, rows);
  } finally {
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Memory of a new server, in bytes. */
async function grow(folder, database, path) {
  const made = makeData(folder, [2048], database);
  const server = await startServer(made, `${folder}.log`);
  try {
    const { caFile, accessKey, accessSecret } = made;
    const reach = { path, port: server.port, caFile, accessKey, accessSecret };
    const settings = { ...reach, code: 'rsa-2048', connections: CONNECTIONS };
    const [few, many] = await loadInStages(settings, [FEW, MANY - FEW], () => settledMemory(server.pid));
    return { few, many, growth: many - few };
  } finally {
    await server.stop();
  }
}

const inMebibytes = (bytes) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
const spread = (all) => [Math.min(...all), Math.max(...all)].map((bytes) => (bytes / 2 ** 20).toFixed(1)).join(' to ');
