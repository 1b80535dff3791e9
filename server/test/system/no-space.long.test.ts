/** A server whose data folder is on a disk that fills up. */

import { execFileSync, spawnSync } from 'node:child_process';
import { cp, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { mayMountDisks, mountSmallDisk } from '../../../test/support/programs/small-disk.ts';
import { isInSample } from '../../../test/support/sample.ts';
import { copyData, SERVER_PROGRAM } from '../../../test/support/services/server-data.ts';
import { folderForEach } from '../../../test/support/set-up.ts';
import { dataFolder } from '../../src/setup/data-folder.ts';
import { openStore } from '../../src/setup/open-data.ts';
import { addClient } from '../support/clients.ts';
import { goodRequest } from '../support/in-process.ts';
import { instance } from '../support/instances.ts';

const folder = folderForEach();
const PATIENCE = { timeout: 60_000, interval: 500 };

test.skipIf(!mayMountDisks() && process.env.CI === undefined)(
  'is not ready and counts nothing while the disk is full, and signs again once there is space',
  async () => {
    const [data, made] = [folder.at('disk'), folder.at('made')];
    await mkdir(data);
    await copyData(made, 2048);
    const before = await openStore(dataFolder(made), undefined, 'use');
    const client = await addClient(before, { name: 'builds', quota: undefined });
    await before.close();
    await using disk = await mountSmallDisk(data, '8m');
    const seenAt = disk.seenFromOutside(data);
    await cp(made, seenAt, { recursive: true });
    const server = instance({ data, seenAt, through: disk.through, config: { logLevel: 'error' } }, 'one');
    await using _ = { [Symbol.asyncDispose]: () => server.end('SIGKILL') };
    await server.start();
    const ready = () => server.status('/readyz');
    expect(await ready()).toBe(200);
    expect((await server.sign(goodRequest(), client)).status).toBe(200);

    const filler = join(seenAt, 'filler');
    // Until nothing is left; the write-ahead log of SQLite has some space that it wrote before.
    expect(() => execFileSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=4096'], { stdio: 'pipe' })).toThrow();
    const statuses: number[] = [];
    await vi.waitFor(async () => {
      statuses.push((await server.sign(goodRequest(), client)).status);
      expect(statuses.at(-1)).toBe(503);
      expect(await ready()).toBe(503);
    }, PATIENCE);
    expect(await server.status('/healthz')).toBe(200);

    await rm(filler);
    await vi.waitFor(async () => expect(await ready()).toBe(200), PATIENCE);
    expect((await server.sign(goodRequest(), client)).status).toBe(200);
    const counted = 2 + statuses.filter((status) => status === 200).length;
    const list = [SERVER_PROGRAM, 'quota', 'list', '--json', '--data', data];
    const [program = '', ...args] = [...disk.through, process.execPath, ...list];
    const [{ signatures }] = JSON.parse(execFileSync(program, args, { encoding: 'utf8' }));
    expect(Number(signatures)).toBe(counted);
    expect(await server.stop()).toBe(0);
  },
);

test.skipIf(!mayMountDisks() && process.env.CI === undefined)(
  'a first start that finds the disk full reports that, ends with 6 and leaves nothing, at whatever step it is',
  async () => {
    const codes: (number | null)[] = [];
    for (let pages = 1; ; pages += 5) {
      if (!isInSample((pages - 1) / 5)) continue;
      await using disk = await mountSmallDisk(folder.path, `${pages * 4}k`);
      const data = folder.at('data');
      const [program = '', ...args] = [...disk.through, process.execPath, SERVER_PROGRAM, 'init', '--data', data];
      const { status, stderr } = spawnSync(program, args, { encoding: 'utf8' });
      codes.push(status);
      if (status === 0) break;
      expect(stderr).toMatch(/is full|disk I\/O error|no space left|the HSM failed to/);
      expect(stderr).not.toMatch(/rollback|unexpected/);
      expect(await readdir(disk.seenFromOutside(data))).toEqual([]);
    }
    expect(new Set(codes)).toEqual(new Set([6, 0]));
  },
  200_000,
);
