import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { expect, test } from 'vitest';
import { SERVER_PROGRAM } from '../../../test/support/services/server-data.ts';

/** What the program's process has in its environment once it has read its own code. */
function poolSize(environment: NodeJS.ProcessEnv): string {
  const tell = "process.once('exit', () => console.log(process.env.UV_THREADPOOL_SIZE))";
  const args = ['--import', `data:text/javascript,${tell}`, SERVER_PROGRAM, 'help'];
  const output = execFileSync(process.execPath, args, { env: { ...process.env, ...environment }, encoding: 'utf8' });
  return output.trim().split('\n').at(-1) ?? '';
}

test('there is one signing thread per core, unless the operator sets another number', () => {
  expect(poolSize({ UV_THREADPOOL_SIZE: undefined })).toBe(`${Math.max(2, availableParallelism())}`);
  expect(poolSize({ UV_THREADPOOL_SIZE: '32' })).toBe('32');
});
