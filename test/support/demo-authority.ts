/** The demonstration's timestamp authority (server/demo/tsa.mjs) as a process of its own. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endWithThisProcess } from './children.ts';
import { REPOSITORY } from './programs/cli.ts';

export type DemoAuthority = Awaited<ReturnType<typeof startDemoAuthority>>;

export async function startDemoAuthority() {
  const folder = await mkdtemp(join(tmpdir(), 'codesign-demo-tsa-'));
  const root = join(folder, 'root.pem');
  const script = join(REPOSITORY, 'server/demo/tsa.mjs');
  const child = spawn(process.execPath, [script, '--port', '0', '--root', root], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  endWithThisProcess(child);
  const ended = once(child, 'exit');
  const url = await new Promise<string>((resolve, reject) => {
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      const address = /^timestamps at (\S+)$/m.exec(output)?.[1];
      if (address !== undefined) resolve(address);
    });
    child.once('error', reject);
    child.once('close', (code) => reject(new Error(`the timestamp authority ended with ${code}`)));
  });
  return {
    url,
    rootPem: await readFile(root, 'utf8'),
    async stop() {
      child.kill();
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
