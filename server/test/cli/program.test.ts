import { execFileSync } from 'node:child_process';
import { readdir, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { copyData, SERVER_PROGRAM } from '../../../test/support/services/server-data.ts';
import { folderForEach } from '../../../test/support/set-up.ts';
import { run } from '../../src/cli/program.ts';
import { SERVER_ERRORS } from '../../src/errors.ts';

const folder = folderForEach();
let data: string;
beforeEach(async () => {
  data = folder.at('data');
});

/** Runs one command in this process; a server is asked to end as soon as it listens. */
async function command(args: readonly string[], terminal?: (text: string) => void) {
  let output = '';
  let errors = '';
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const surroundings = {
    environment: process.env,
    now: () => new Date(),
    announce: (line: string) => {
      output += `${line}\n`;
      end();
    },
    log: {
      write: (text: string) => {
        errors += text;
      },
    },
    terminal,
  };
  const code = await run(args, surroundings, () => ended);
  return { code, output, errors };
}

test.each([
  ['an unknown option', ['start', '--nonsense']],
  ['no file and no terminal for the credentials', ['start']],
  ['an unknown command', ['nonsense']],
  ['no command', []],
  ['an argument too many', ['start', 'more']],
  ['an option without its value', ['start', '--port']],
  ['an invalid port', ['start', '--port', 'x']],
  ['an unknown log level', ['start', '--log-level', 'loud']],
  ['half a TLS pair', ['start', '--tls-cert', 'x.pem']],
  ['a library that is not there', ['start', '--pkcs11-library', '/no/such.so']],
  ['a certificate without a number', ['certificate', 'add']],
  ['an unsupported key size', ['certificate', 'add', '--number', 'x', '--bits', '1024']],
  ['a number with a path in it', ['certificate', 'add', '--number', '../x']],
  ['a name with a control character', ['certificate', 'add', '--number', 'x', '--common-name', 'a\u001bb']],
])('a usage error: %s ends with 2, says why, and makes nothing', async (_name, args) => {
  const place = args.length > 0 && args[0] !== 'nonsense' ? ['--data', data] : [];
  const { code, output, errors } = await command([...args, ...place]);
  expect({ code, output }).toEqual({ code: 2, output: '' });
  expect(errors.length).toBeGreaterThan(10);
  expect(await readdir(folder.path)).toEqual([]);
});

test.each([
  ['a port', ['start', '--port', '1\u202e\u001b[2J']],
  ['a host', ['start', '--host', 'a\u202eb\u009b']],
  ['a configuration file', ['start', '--config', '/no\u202e/such\u0007.json']],
  ['a library', ['start', '--pkcs11-library', '/no\u202e/such\u0085.so']],
  ['a level of the log', ['start', '--log-level', 'a\u2066b\u200f']],
  ['a number', ['certificate', 'add', '--number', 'a\u202eb']],
  ['a folder without data', ['client', 'list', '--data', '/no\u202e/such\u001b']],
  ['an unknown option', ['start', '--no\u202e\u009b']],
])('escapes control and direction characters of %s in the message', async (_name, args) => {
  const place = args.includes('--data') ? [] : ['--data', data];
  const { code, errors } = await command([...args, ...place]);
  expect(code).toBe(2);
  expect(errors).toMatch(/\\u20[26]/);
  expect(errors).not.toMatch(/[^\n\P{Cc}]|[\p{Cf}\p{Zl}\p{Zp}]/u);
});

test.each([
  ['a number sign', 'a#b'],
  ['an equals sign', 'a=b'],
  ['a line break', 'a\nb'],
  ['too long a path', `${'x'.repeat(200)}/`.repeat(5)],
])('a data folder with %s, which SoftHSM would misread, is rejected before anything is made', async (_name, path) => {
  for (const args of [
    ['start', '--client-env', folder.at('env')],
    ['certificate', 'list'],
  ]) {
    const { code, errors } = await command([...args, '--data', folder.at(path)]);
    expect(code).toBe(2);
    expect(errors).toContain(SERVER_ERRORS['data-path-unfit'].hint);
    expect(await readdir(folder.path)).toEqual([]);
  }
});

test('prints its version', async () => {
  expect(await command(['--version'])).toEqual({ code: 0, output: '0.0.0-development\n', errors: '' });
  const built = execFileSync(process.execPath, [SERVER_PROGRAM, '--version'], { encoding: 'utf8' });
  const { version } = JSON.parse(await readFile(new URL('../../../package.json', import.meta.url), 'utf8'));
  expect(built).toBe(`${version}\n`);
});

test('a first start at a terminal shows the credentials there, once, and says in three lines what to do', async () => {
  await copyData(data, 2048);
  let shown = '';
  const terminal = (text: string) => {
    shown += text;
  };
  const first = await command(['start', '--data', data, '--port', '0'], terminal);
  expect(first.code).toBe(0);
  const messages = first.errors
    .trimEnd()
    .split('\n')
    .map((line): Readonly<Record<string, unknown>> => JSON.parse(line))
    .map(({ msg }) => msg);
  expect(messages.slice(1, 4)).toEqual([
    expect.stringMatching(/^created a certificate authority/),
    expect.stringMatching(/^printed the client's settings /),
    expect.stringMatching(/^next, .* sign app\.exe$/),
  ]);
  expect(shown).toMatch(/^CODESIGN_ACCESS_SECRET='[A-Za-z0-9_-]{43}'$/m);
  shown = '';
  const later = await command(['start', '--data', data, '--port', '0'], terminal);
  expect(later.code).toBe(0);
  expect(later.errors).not.toContain('next, ');
  expect(shown).toBe('');
});

test('an address in use has a separate error, and the next start writes the credentials', async () => {
  await copyData(data, 2048);
  const clientEnv = folder.at('client.env');
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const address = taken.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const args = ['start', '--data', data, '--client-env', clientEnv];
  const refused = await command([...args, '--port', `${port}`]);
  await new Promise((resolve) => taken.close(resolve));
  expect(refused.code).toBe(6);
  expect(refused.errors).toContain('--port');
  expect(await readdir(folder.path)).toEqual(['data']);
  expect((await command([...args, '--port', '0'])).code).toBe(0);
  expect(await readFile(clientEnv, 'utf8')).toContain('CODESIGN_ACCESS_SECRET=');
});

const hasIpv6 = Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === '::1'));
const REACHED: readonly { readonly args: readonly string[]; readonly base: RegExp; readonly line: RegExp }[] = [
  {
    args: ['--host', '0.0.0.0'],
    base: /^https:\/\/127\.0\.0\.1:\d+$/,
    line: /^listening on https:\/\/0\.0\.0\.0:\d+\n$/,
  },
  {
    args: ['--host', '0:0:0:0:0:0:0:0'],
    base: /^https:\/\/127\.0\.0\.1:\d+$/,
    line: /^listening on https:\/\/\[0:0:0:0:0:0:0:0\]:\d+\n$/,
  },
  { args: ['--host', '::1'], base: /^https:\/\/\[::1\]:\d+$/, line: /^listening on https:\/\/\[::1\]:\d+\n$/ },
  {
    args: ['--tls-name', 'sign.example.com', '--tls-name', '10.1.2.3'],
    base: /^https:\/\/sign\.example\.com:\d+$/,
    line: /^listening on https:\/\/127\.0\.0\.1:\d+\n$/,
  },
];
const reachable = REACHED.filter(({ args }) => hasIpv6 || !args.some((arg) => arg.includes(':')));
test.each(reachable)('with $args, clients get an address that they can reach', async ({ args, base, line }) => {
  await copyData(data, 2048);
  const clientEnv = folder.at('client.env');
  const start = ['start', '--data', data, '--port', '0', '--client-env', clientEnv];
  const { code, output, errors } = await command([...start, ...args]);
  expect(code).toBe(0);
  expect(output).toMatch(line);
  expect(errors).toMatch(/"accepts calls at https:/);
  expect(errors).not.toContain('listening on');
  expect(/^CODESIGN_BASE_URL='(.*)'$/m.exec(await readFile(clientEnv, 'utf8'))?.[1]).toMatch(base);
});

test('a path with quotes in it survives a shell that reads the environment file', async () => {
  const odd = folder.at("it's $HOME");
  await copyData(odd, 2048);
  const clientEnv = folder.at('client.env');
  expect((await command(['start', '--data', odd, '--port', '0', '--client-env', clientEnv])).code).toBe(0);
  const read = execFileSync('sh', ['-c', 'set -a; . "$0"; printf %s "$CODESIGN_CA_FILE"', clientEnv], {
    encoding: 'utf8',
  });
  expect(read).toBe(join(odd, 'service', 'tls', 'ca.pem'));
});

test('certificates are added with their key size and listed with their chain files', async () => {
  await copyData(data, 2048);
  const added = await command(['certificate', 'add', '--data', data, '--number', 'another', '--bits', '2048']);
  const path = join(data, 'service', 'certificates', 'certificate-another.pem');
  expect(added).toMatchObject({ code: 0, output: `${path}\n` });
  expect((await readFile(path, 'utf8')).match(/BEGIN CERTIFICATE/g)).toHaveLength(2);
  const { output } = await command(['certificate', 'list', '--data', data]);
  expect(output.split('\n').map((line) => line.split(/ {2,}/).slice(0, 2).join(' '))).toEqual([
    'NUMBER KEY',
    '1 RSA 3072',
    'rsa-2048 RSA 2048',
    'another RSA 2048',
    '',
  ]);
  const again = await command(['certificate', 'add', '--data', data, '--number', 'another', '--bits', '2048']);
  expect(again.code).toBe(2);
});

test('a start restores a lost chain file', async () => {
  await copyData(data, 2048);
  const path = join(data, 'service', 'certificates', 'certificate-rsa-2048.pem');
  const chain = await readFile(path, 'utf8');
  await rm(path);
  expect((await command(['start', '--data', data, '--port', '0'], () => {})).code).toBe(0);
  expect(await readFile(path, 'utf8')).toBe(chain);
});

test('every error has a hint', () => {
  for (const [code, { hint }] of Object.entries(SERVER_ERRORS)) {
    expect(code).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
    expect(hint).toMatch(/[.)]$/);
  }
});
