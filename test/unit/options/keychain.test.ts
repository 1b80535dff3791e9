/** The keychain through keytar: with a real Secret Service in its states, and where there is none or it does not answer. */

import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Keychain, keychainFailure, openKeychain } from '../../../src/options/credentials/keychain.ts';
import type { Environment } from '../../../src/options/table.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import { startSecretService } from '../../support/programs/secret-service.ts';
import { folderForAll } from '../../support/set-up.ts';

const folder = folderForAll();

const open = (env: Environment): Keychain => openKeychain({ env, patienceMilliseconds: 20_000 });
const USABLE_HINT = expect.stringMatching(/CODESIGN_ACCESS_KEY.*CODESIGN_ACCESS_SECRET_FILE/);
const failing = (code: string) => ({ code, category: 'usage', hint: USABLE_HINT });

describe.runIf(process.platform === 'linux')('a real Secret Service', () => {
  test('keeps a value under each name, replaces it, and deletes it', async () => {
    await using service = await startSecretService();
    const keychain = open(service.env);
    const value = '{"a":"ü€😀 \\"quoted\\"\\n"}';
    await keychain.write('default', new Secret('first'));
    await keychain.write('default', new Secret(value));
    await keychain.write('work', new Secret('other'));
    expect((await keychain.read('default'))?.reveal()).toBe(value);
    expect(await keychain.remove('default')).toBe(true);
    expect(await keychain.remove('default')).toBe(false);
    expect((await keychain.read('work'))?.reveal()).toBe('other');
  });

  test('that was never set up is reported', async () => {
    await using service = await startSecretService({ state: 'no-collection' });
    const keychain = open(service.env);
    expect(await keychain.read('default')).toBeUndefined();
    await expect(keychain.write('default', new Secret('x'))).rejects.toMatchObject(failing('keychain-locked'));
  });
});

describe.runIf(process.platform === 'linux')('without one', () => {
  test('a message bus without it: every operation says so', async () => {
    await using service = await startSecretService({ state: 'no-daemon' });
    // A bus that is killed leaves its socket, which must go with the folder.
    expect(service.env.DBUS_SESSION_BUS_ADDRESS).toContain(service.folder);
    const { read, write, remove } = open(service.env);
    for (const act of [() => read('default'), () => write('default', new Secret('x')), () => remove('default')]) {
      await expect(act()).rejects.toMatchObject(failing('keychain-unavailable'));
    }
  });

  test.each<[string, Environment]>([
    ['no message bus', { XDG_RUNTIME_DIR: folder, HOME: folder }],
    ['a message bus that is gone', { DBUS_SESSION_BUS_ADDRESS: `unix:path=${folder}/gone` }],
  ])('%s', async (_name, env) => {
    await expect(open(env).read('default')).rejects.toMatchObject(failing('keychain-unavailable'));
  });

  test('one that never answers is waited for only for a limited time, and its process is ended', async () => {
    const path = join(folder, 'silent-bus');
    const seen: string[] = [];
    const bus = createServer((socket) => {
      seen.push('connected');
      socket.resume().on('error', () => undefined);
      socket.on('close', () => seen.push('closed'));
    });
    await once(bus.listen(path), 'listening');
    onTestFinished(() => void bus.close());
    const env = { DBUS_SESSION_BUS_ADDRESS: `unix:path=${path}` };
    // On a busy machine, the process may need longer than that to connect.
    for (let patience = 1500; seen.length === 0; patience *= 2) {
      const reading = openKeychain({ env, patienceMilliseconds: patience }).read('default');
      await expect(reading).rejects.toMatchObject(failing('keychain-locked'));
    }
    await expect.poll(() => seen).toEqual(['connected', 'closed']);
  });
});

describe('keytar', () => {
  const openWith = (locate: () => string) => openKeychain({ env: process.env, patienceMilliseconds: 20_000, locate });

  test('need not be installed', async () => {
    const missing = () => expect.fail("Cannot find module 'keytar'");
    const message = expect.stringContaining('not installed');
    await expect(openWith(missing).read('default')).rejects.toMatchObject({ code: 'keychain-unavailable', message });
  });

  test('gets the secret by no argument, which other users could see', async () => {
    const path = join(folder, 'keytar-recording.cjs');
    const record = 'JSON.stringify([values, process.execArgv.concat(process.argv)])';
    const text = `exports.setPassword = async (...values) => require('fs').writeFileSync('${path}.seen', ${record});`;
    await writeFile(path, text);
    await openWith(() => path).write('work', new Secret('s3cret'));
    const [values, args] = JSON.parse(await readFile(`${path}.seen`, 'utf8'));
    expect(values).toEqual(['codesign-remote', 'work', 's3cret']);
    expect(args.join()).toContain('--eval');
    expect(args.join()).not.toContain('s3cret');
  });

  test.each([
    ['does not load', "throw new Error('Failed to load keytar native addon')", 'does not load'],
    ['ends its process', 'process.abort()', 'keytar ended with '],
    ['ends its process without a word', 'process.exit(3)', 'keytar ended with 3'],
  ])('that %s is a keychain that cannot be used', async (_name, text, said) => {
    const path = join(folder, `keytar-${said.length}.cjs`);
    await writeFile(path, text);
    const message = expect.stringContaining(said);
    await expect(openWith(() => path).read('default')).rejects.toMatchObject({ code: 'keychain-unavailable', message });
  });
});

test.each([
  ['Cannot autolaunch D-Bus without X11 $DISPLAY', 'keychain-unavailable'],
  ['The name org.freedesktop.secrets was not provided by any .service files', 'keychain-unavailable'],
  ['The name is not activatable', 'keychain-unavailable'],
  ['A specified logon session does not exist. It may already have been terminated.', 'keychain-unavailable'],
  ['Object does not exist at path “/org/freedesktop/secrets/collection/login”', 'keychain-locked'],
  ['Cannot create an item in a locked collection', 'keychain-locked'],
  ['User interaction is not allowed.', 'keychain-locked'],
  ['A default keychain could not be found.', 'keychain-locked'],
  ['User canceled the operation.', 'keychain-denied'],
  ['Operation was cancelled', 'keychain-denied'],
  ['The user name or passphrase you entered is not correct.', 'keychain-denied'],
  ['Access is denied.', 'keychain-denied'],
])('a keychain that says "%s" is %s', (words, code) => {
  expect(keychainFailure(words)).toMatchObject({ ...failing(code), message: expect.stringContaining(words) });
});
