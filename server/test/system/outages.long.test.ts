/** What a build notices of outages that the server survives: nothing, if they take less than 20 seconds. */

import { randomBytes } from 'node:crypto';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { expect, test } from 'vitest';
import { runCliProcess, temporaryFolder } from '../../../test/support/programs/cli.ts';
import { addClient } from '../support/clients.ts';
import { allRecords } from '../support/counting-scene.ts';
import { NUMBER } from '../support/in-process.ts';
import { openScene, type Scene } from '../support/server-scene.ts';

/** In milliseconds. */
const OUTAGE = 10_000;
/** Longer than a client waits between attempts, so that the same call cannot meet two outages, which are 20 seconds together. */
const BETWEEN_OUTAGES = 7000;
const FILES = 12;

const outages: readonly {
  readonly what: string;
  readonly kind: 'SQLite' | 'PostgreSQL';
  begin(scene: Scene): Promise<unknown>;
  end(scene: Scene): Promise<unknown>;
}[] = [
  {
    what: 'the database',
    kind: 'PostgreSQL',
    begin: async ({ postgres }) => await postgres?.stopImmediately(),
    end: async ({ postgres }) => await postgres?.start(),
  },
  {
    what: 'the token',
    kind: 'SQLite',
    async begin({ tokens }) {
      await rename(tokens, `${tokens}.away`);
      await mkdir(tokens);
    },
    async end({ tokens }) {
      await rm(tokens, { recursive: true });
      await rename(`${tokens}.away`, tokens);
    },
  },
];

async function addBuilds({ store, instances }: Scene, folder: string) {
  const client = await addClient(store);
  const { port, ca } = instances[0]?.address() ?? expect.unreachable();
  const [caFile, certificate] = [join(folder, 'ca.pem'), join(folder, 'certificate.pem')];
  await writeFile(caFile, ca);
  await writeFile(certificate, (await store.certificates.find(NUMBER))?.chain ?? '');
  const env = {
    ...{ CODESIGN_BASE_URL: `https://127.0.0.1:${port}`, CODESIGN_CA_FILE: caFile, CODESIGN_CODE: NUMBER },
    ...{ CODESIGN_CERTIFICATE: certificate },
    ...{ CODESIGN_ACCESS_KEY: client.accessKey, CODESIGN_ACCESS_SECRET: client.accessSecret },
  };
  return { client, env };
}

// At the same time: both wait most of theirs.
test.concurrent.each(outages)(
  'builds sign every file while $what is away for 10 seconds, twice in a row, and nothing else is counted',
  async ({ kind, begin, end }) => {
    await using scene = await openScene(kind, 1);
    await using folder = await temporaryFolder();
    const { store } = scene;
    const { client, env } = await addBuilds(scene, folder.path);
    const build = async (name: string) => {
      const files = Array.from({ length: FILES }, (_, index) => join(folder.path, `${name}-${index}.ps1`));
      for (const file of files) await writeFile(file, `"${randomBytes(8).toString('hex')}"\r\n`);
      return await runCliProcess(['sign', '--no-timestamp', ...files], { env });
    };
    let [going, builds] = [true, 0];
    const failed: string[] = [];
    const building = async () => {
      while (going && failed.length === 0) {
        builds += 1;
        const { code, stderr } = await build(`build-${builds}`);
        if (code !== 0) failed.push(stderr);
      }
    };
    const disturbing = async () => {
      for (let outage = 0; outage < 2; outage++) {
        await sleep(BETWEEN_OUTAGES);
        await begin(scene);
        await sleep(OUTAGE);
        await end(scene);
      }
      await sleep(2000);
      going = false;
    };
    await Promise.all([building(), disturbing()]);
    expect(failed).toEqual([]);
    const { signatures } = (await store.clients.findByAccessKey(client.accessKey)) ?? expect.unreachable();
    expect(signatures).toBe(builds * FILES);
    expect(await allRecords(store, { clientId: client.id })).toHaveLength(builds * FILES);
  },
  300_000,
);

test('a call that waits for a locked row is answered before its client gives up, and the next attempt is signed', async () => {
  await using scene = await openScene('PostgreSQL', 1);
  await using folder = await temporaryFolder();
  const other = new pg.Client({ connectionString: scene.database });
  await using _ = { [Symbol.asyncDispose]: () => other.end() };
  const { client, env } = await addBuilds(scene, folder.path);
  await other.connect();
  await other.query('begin');
  await other.query('select from clients where id = $1 for update', [client.id]);
  // Longer than a client waits for an answer.
  const unlocked = sleep(32_000).then(() => other.query('commit'));
  const file = join(folder.path, 'build.ps1');
  await writeFile(file, '"locked"\r\n');
  const [run] = await Promise.all([runCliProcess(['sign', '--no-timestamp', file], { env }), unlocked]);
  expect(run).toMatchObject({ code: 0 });
  const records = await allRecords(scene.store, { clientId: client.id });
  expect(records.map(({ counted }) => counted)).toEqual([true]);
}, 120_000);
