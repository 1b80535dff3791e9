// The bundled server under load from a second process, over TLS with kept connections: signatures a second, and latency at half of that.
import { constants, publicDecrypt, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { table } from '../measure.mjs';
import { fromSource, makeData, measureBare, measureLoad, startEmpty, startServer } from '../server/running.mjs';

const BITS = [2048, 3072, 4096];
const STORES = ['SQLite', 'PostgreSQL'];
/** As many as the server starts with; see SESSIONS_PER_CORE in server/src/setup/open-data.ts. */
const SESSIONS = 32 * availableParallelism();
/** Enough for the HSM to have work while others are at the database, and fewer than the server accepts concurrently. */
const CONNECTIONS = 288;
/** Seconds: each turn's, and what goes before it without counting. */
const [WARM, SECONDS, LATENCY_SECONDS] = [1, 4, 5];
/** What load.mjs has signed. */
const DIGEST = Buffer.alloc(32, 7);
const PARTS = { bare: 'bare `C_SignAsync`', empty: 'server with nothing behind it' };

export const title = 'Server: signatures under load, two processes on the same cores';

/** @returns the tables and the numbers. */
export async function bench(_setting, rounds) {
  const folder = await mkdtemp(join(tmpdir(), 'codesign-bench-server-'));
  const source = await fromSource();
  const postgres = await source.startPostgres({ flushes: true });
  const running = [];
  try {
    say('making keys');
    const made = { SQLite: makeData(folder, BITS), PostgreSQL: makeData(folder, BITS, postgres.newDatabase()) };
    const start = async (name, starting) => {
      const server = { ...made[name === 'empty' ? 'SQLite' : name], ...(await starting), path: source.SIGN_PATH };
      running.push(server);
      return server;
    };
    const logOf = (name) => join(folder, `${name}.log`);
    const servers = { empty: undefined };
    for (const store of STORES) servers[store] = await start(store, startServer(made[store], logOf(store)));
    // Behind a TLS certificate that a real one has made as it started.
    servers.empty = await start('empty', startEmpty(source.empty, made.SQLite, BITS, logOf('empty')));

    const bare = (bits) => {
      const certificate = chainOf(made.SQLite, bits);
      const token = { library: source.findSoftHsm(undefined), label: source.TOKEN_LABEL };
      return measureBare(
        { ...token, certificate, sessions: SESSIONS, warm: WARM, seconds: SECONDS },
        made.SQLite.service,
      );
    };
    const rates = await measureRates(rounds, bare, servers);
    const latencies = await measureLatencies(rates, servers);
    return {
      text: [ratesTable(rates), latencyTable(latencies)].join('\n\n'),
      results: { rates, latencies },
    };
  } finally {
    for (const server of running.reverse()) await server.stop();
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

const load = (server, bits, more) =>
  measureLoad({ ...reach(server), code: `rsa-${bits}`, connections: CONNECTIONS, warm: WARM, ...more });
const reach = ({ path, port, caFile, accessKey, accessSecret }) => ({ path, port, caFile, accessKey, accessSecret });
const chainOf = ({ service }, bits) => join(service, 'certificates', `certificate-rsa-${bits}.pem`);
const say = (text) => process.stderr.write(`${text}\n`);

/** All parts in turn, round by round; the first round warms them and does not count. */
async function measureRates(rounds, bare, servers) {
  const all = Object.fromEntries(BITS.map((bits) => [bits, { bare: [], empty: [], SQLite: [], PostgreSQL: [] }]));
  for (let round = 0; round <= rounds; round++) {
    for (const bits of BITS) {
      const parts = { bare: (await bare(bits)).rate };
      for (const [name, server] of Object.entries(servers)) {
        const { rate, first } = await load(server, bits, { seconds: SECONDS });
        if (name !== 'empty') checkSignature(first, chainOf(server, bits));
        parts[name] = rate;
      }
      say(
        `round ${round} of ${rounds}, RSA-${bits}: ${Object.entries(parts)
          .map(([name, rate]) => `${name} ${rate.toFixed(0)}`)
          .join(', ')}`,
      );
      if (round === 0) continue;
      for (const [name, rate] of Object.entries(parts)) all[bits][name].push(rate);
    }
  }
  return Object.fromEntries(BITS.map((bits) => [bits, summary(all[bits])]));
}

/** @returns of each part the median, the least and the most; and what both parts without a store come to together */
function summary(parts) {
  const summed = Object.fromEntries(
    Object.entries(parts).map(([name, rates]) => {
      const sorted = rates.toSorted((a, b) => a - b);
      return [name, { median: sorted[sorted.length >> 1], least: sorted[0], most: sorted.at(-1) }];
    }),
  );
  return { ...summed, together: 1 / (1 / summed.bare.median + 1 / summed.empty.median) };
}

async function measureLatencies(rates, servers) {
  const latencies = Object.fromEntries(BITS.map((bits) => [bits, {}]));
  for (const bits of BITS) {
    for (const store of STORES) {
      const { p50, p99, rate } = await load(servers[store], bits, {
        seconds: LATENCY_SECONDS,
        rate: rates[bits][store].median / 2,
      });
      latencies[bits][store] = { rate, p50, p99 };
      say(`RSA-${bits}, ${store}, ${rate.toFixed(0)} a second: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`);
    }
  }
  return latencies;
}

/** A fast signer of what does not verify would be worth nothing: the first answer of each turn is looked at. */
function checkSignature(answer, chain) {
  const { publicKey: key } = new X509Certificate(readFileSync(chain));
  const signature = Buffer.from(JSON.parse(answer).data.signature, 'base64');
  const signed = publicDecrypt({ key, padding: constants.RSA_PKCS1_PADDING }, signature);
  if (!signed.subarray(-DIGEST.length).equals(DIGEST))
    throw new Error('the server answered a signature of something else');
}

function ratesTable(rates) {
  const rows = BITS.flatMap((bits) => {
    const { together, ...parts } = rates[bits];
    return Object.entries(parts).map(([name, { median, least, most }]) => {
      const share = STORES.includes(name) ? `${((100 * median) / together).toFixed(0)} %` : '';
      return [`RSA-${bits}`, PARTS[name] ?? name, median.toFixed(0), `${least.toFixed(0)}–${most.toFixed(0)}`, share];
    });
  });
  return table(['key', 'part', 'a second, median', 'least–most', 'of 1 ÷ (1 ÷ bare + 1 ÷ nothing behind it)'], rows);
}

function latencyTable(latencies) {
  const rows = BITS.flatMap((bits) =>
    STORES.map((store) => {
      const { rate, p50, p99 } = latencies[bits][store];
      return [`RSA-${bits}`, store, rate.toFixed(0), `${p50.toFixed(1)} ms`, `${p99.toFixed(1)} ms`];
    }),
  );
  return table(['key', 'store', 'come a second', 'p50', 'p99'], rows);
}
