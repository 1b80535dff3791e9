// The bundled server under load from a second process, over TLS with kept connections: signatures a second.
import { constants, publicDecrypt, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { serverSources } from '../from-source.mjs';
import { median, table } from '../measure.mjs';
import { makeData, makeDevice, measureBare, measureLoad, startServer } from '../server/running.mjs';

const BITS = [2048, 3072, 4096];
const STORES = ['SQLite', 'PostgreSQL'];
/** As many as the server starts with; see SESSIONS_PER_CORE in server/src/setup/open-data.ts. */
const SESSIONS = 32 * availableParallelism();
/** Enough for the HSM to have work while others are at the database, and fewer than the server accepts concurrently. */
const CONNECTIONS = 288;
/** Signatures a second of a device, and microseconds on the way to it and back. */
const DEVICE_RATES = [100, 300, 1000];
const DEVICE_TRANSIT = 2000;
/** Enough for calls on their way, as server/docs/operate.md says of an HSM in the network. */
const DEVICE_THREADS = '16';
/** Seconds: each turn's, and what goes before it without counting. */
const [WARM, SECONDS] = [1, 4];
/** What load.mjs has signed. */
const DIGEST = Buffer.alloc(32, 7);
const PARTS = { bare: 'bare `C_SignAsync`' };

export const title = 'Server: signatures under load, two processes on the same cores';

/** @returns the tables. */
export async function bench(rounds) {
  const folder = await mkdtemp(join(tmpdir(), 'codesign-bench-server-'));
  const source = await serverSources();
  const postgres = await source.startPostgres({ flushes: true });
  const running = [];
  try {
    say('making keys');
    const made = { SQLite: makeData(folder, BITS), PostgreSQL: makeData(folder, BITS, await postgres.newDatabase()) };
    const start = async (store, name, hsm) => {
      const server = await startServer(made[store], join(folder, `${name}.log`), hsm);
      running.push(server);
      return { ...made[store], ...server, path: source.SIGN_PATH };
    };
    const stop = async () => {
      for (const server of running.splice(0).reverse()) await server.stop();
    };
    const softHsm = source.findSoftHsm(undefined);
    const bare = async (bits, { library = softHsm, env } = {}) => {
      const token = { library, label: source.TOKEN_LABEL, certificate: chainOf(made.SQLite, bits) };
      const turn = { sessions: SESSIONS, warm: WARM, seconds: SECONDS };
      return (await measureBare({ ...token, ...turn }, made.SQLite.service, env)).rate;
    };

    const servers = {};
    for (const store of STORES) servers[store] = await start(store, store);
    const rates = await measureRates(rounds, bare, servers);
    await stop();

    const device = {};
    const library = makeDevice(folder);
    for (const rate of DEVICE_RATES) {
      const settings = { DEVICE_LIBRARY: softHsm, DEVICE_RATE: `${rate}`, DEVICE_TRANSIT: `${DEVICE_TRANSIT}` };
      const hsm = { library, env: { ...settings, UV_THREADPOOL_SIZE: DEVICE_THREADS } };
      const behind = {};
      for (const store of STORES) behind[store] = await start(store, `${store}-${rate}`, hsm);
      device[rate] = (await measureRates(rounds, (bits) => bare(bits, hsm), behind, [3072]))[3072];
      await stop();
    }
    return [ratesTable(rates), deviceTable(device)].join('\n\n');
  } finally {
    for (const server of running.reverse()) await server.stop();
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

const load = (server, bits) =>
  measureLoad({ ...reach(server), code: `rsa-${bits}`, connections: CONNECTIONS, warm: WARM, seconds: SECONDS });
const reach = ({ path, port, caFile, accessKey, accessSecret }) => ({ path, port, caFile, accessKey, accessSecret });
const chainOf = ({ service }, bits) => join(service, 'certificates', `certificate-rsa-${bits}.pem`);
const say = (text) => process.stderr.write(`${text}\n`);

/** All parts in turn, round by round; the first round warms them and does not count. */
async function measureRates(rounds, bare, servers, sizes = BITS) {
  const all = Object.fromEntries(sizes.map((bits) => [bits, { bare: [], SQLite: [], PostgreSQL: [] }]));
  for (let round = 0; round <= rounds; round++) {
    for (const bits of sizes) {
      const parts = { bare: await bare(bits) };
      for (const [name, server] of Object.entries(servers)) {
        const { rate, first } = await load(server, bits);
        checkSignature(first, chainOf(server, bits));
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
  return all;
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
  const rows = BITS.flatMap((bits) => rateRows(`RSA-${bits}`, rates[bits]));
  return table(['key', 'part', 'a second, median', 'least–most', 'of bare'], rows);
}

function deviceTable(device) {
  const rows = DEVICE_RATES.flatMap((rate) => rateRows(`${rate} /s`, device[rate]));
  return table(['device', 'part', 'a second, median', 'least–most', 'of bare'], rows);
}

function rateRows(title, parts) {
  return Object.entries(parts).map(([name, rates]) => {
    const share = STORES.includes(name) ? `${((100 * median(rates)) / median(parts.bare)).toFixed(0)} %` : '';
    const spread = `${Math.min(...rates).toFixed(0)}–${Math.max(...rates).toFixed(0)}`;
    return [title, PARTS[name] ?? name, median(rates).toFixed(0), spread, share];
  });
}
