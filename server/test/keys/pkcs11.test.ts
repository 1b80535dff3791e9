import { constants, createHash, publicDecrypt, verify } from 'node:crypto';
import { cp, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import pkcs11 from 'pkcs11js';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { DIGEST_ALGORITHMS } from '../../../src/crypto/algorithms.ts';
import { folderForAll, folderForEach } from '../../../test/support/set-up.ts';
import { createToken, openPkcs11, type TokenOptions } from '../../src/keys/pkcs11.ts';
import { digestInfo } from '../../src/keys/signature-check.ts';
import { configureSoftHsm, findSoftHsm, tokenFolder } from '../../src/keys/softhsm.ts';
import { pass } from '../support/clock.ts';

const KEY_BITS = 2048;
const TOKEN = { label: 'a token of a test', pin: 'a pin of a test' };

/** Holds a token with two keys. */
const original = folderForAll();
await mkdir(tokenFolder(original));
await configureSoftHsm(original, process.env);
const made = { library: findSoftHsm(undefined), ...TOKEN };
await createToken(made, 'another pin');
const keys = await openPkcs11(made);
const first = await keys.generate('a key', KEY_BITS);
const otherFiles = await keyFiles(original);
const second = await keys.generate('another key', KEY_BITS);
await keys.close();

const folder = folderForEach();
const token: TokenOptions = made;
beforeEach(async () => {
  await cp(tokenFolder(original), tokenFolder(folder.path), { recursive: true });
  await configureSoftHsm(folder.path, process.env);
});
afterEach(() => vi.restoreAllMocks());

const DIGEST = Buffer.alloc(32);
const open = async () => {
  const keys = await openPkcs11(token);
  return { keys, key: await keys.find(first.id) };
};
/** The files of the keys in the token below a folder. */
async function keyFiles(root = folder.path) {
  const [name = ''] = await readdir(tokenFolder(root));
  const place = join(tokenFolder(root), name);
  return { place, names: (await readdir(place)).filter((file) => /^(?!token\b).*\.object$/.test(file)) };
}

test('a key that was made signs every algorithm’s DigestInfo, and is found again after a restart', async () => {
  const { keys, key } = await open();
  expect(key.publicKey.equals(first.publicKey)).toBe(true);
  expect(key.publicKey.asymmetricKeyDetails).toMatchObject({ modulusLength: 2048, publicExponent: 65537n });
  for (const algorithm of DIGEST_ALGORITHMS) {
    const digest = createHash(algorithm).update('content').digest();
    const signature = Buffer.from(await key.sign(algorithm, digest));
    expect(verify(algorithm, Buffer.from('content'), first.publicKey, signature)).toBe(true);
    const padded = { key: first.publicKey, padding: constants.RSA_PKCS1_PADDING };
    expect(publicDecrypt(padded, signature).equals(digestInfo(algorithm, digest))).toBe(true);
  }
  await expect(keys.find('00'.repeat(16))).rejects.toMatchObject({ code: 'key-not-found' });
  await keys.close();
});

test('the private key is sensitive, not extractable, usable only for signing, and was always so', async () => {
  const { keys } = await open(); // whose login holds for the second session too
  inSecondSession((module, slot) => {
    const session = module.C_OpenSession(slot, pkcs11.CKF_SERIAL_SESSION | pkcs11.CKF_RW_SESSION);
    module.C_FindObjectsInit(session, [{ type: pkcs11.CKA_CLASS, value: pkcs11.CKO_PRIVATE_KEY }]);
    const [handle = expect.unreachable()] = module.C_FindObjects(session, 2);
    module.C_FindObjectsFinal(session);
    const { CKA_PRIVATE, CKA_SENSITIVE, CKA_ALWAYS_SENSITIVE, CKA_NEVER_EXTRACTABLE, CKA_LOCAL, CKA_SIGN } = pkcs11;
    const { CKA_EXTRACTABLE, CKA_DECRYPT, CKA_UNWRAP } = pkcs11;
    const get = (type: number) => module.C_GetAttributeValue(session, handle, [{ type }])[0]?.value;
    for (const type of [CKA_PRIVATE, CKA_SENSITIVE, CKA_ALWAYS_SENSITIVE, CKA_NEVER_EXTRACTABLE, CKA_LOCAL, CKA_SIGN]) {
      expect(get(type)).toEqual(Buffer.of(1));
    }
    for (const type of [CKA_EXTRACTABLE, CKA_DECRYPT, CKA_UNWRAP]) expect(get(type)).toEqual(Buffer.of(0));
    expect(() => get(pkcs11.CKA_PRIVATE_EXPONENT)).toThrow(/CKR_ATTRIBUTE_SENSITIVE/);
  });
  await keys.close();
});

test('many concurrent signatures share the sessions, and closing waits for them', async () => {
  const { keys, key } = await open();
  const contents = Array.from({ length: 60 }, (_, index) => Buffer.from(`content ${index}`));
  const under = contents.map((content) => key.sign('SHA256', createHash('sha256').update(content).digest()));
  await Promise.resolve();
  await keys.close();
  const signatures = await Promise.all(under);
  for (const [index, signature] of signatures.entries()) {
    expect(verify('sha256', contents[index] ?? Buffer.alloc(0), key.publicKey, signature)).toBe(true);
  }
});

test('a signature that the HSM rejects has a separate error, and the next one works', async () => {
  const { keys, key } = await open();
  await expect(key.sign('SHA256', Buffer.alloc(300))).rejects.toMatchObject({ code: 'hsm-failed' });
  expect(await key.sign('SHA256', DIGEST)).toHaveLength(256);
  await keys.close();
});

test.each([
  ['a label that no token has', { label: 'another token' }, 'token-not-found'],
  ['a wrong PIN', { pin: 'wrong pin' }, 'pin-rejected'],
  ['a file that is not a library', { library: process.execPath }, 'pkcs11-library-unusable'],
])('rejects %s, and can open the token after that', async (_name, wrong, code) => {
  await expect(openPkcs11({ ...token, ...wrong })).rejects.toMatchObject({ code });
  await (await openPkcs11(token)).close();
});

test('names the path of a missing library', () => {
  const error = { code: 'pkcs11-library-unusable', message: expect.stringContaining('/no/such/library.so') };
  expect(() => findSoftHsm('/no/such/library.so')).toThrow(expect.objectContaining(error));
});

/** What the library does to its application when the token is pulled or restarted, brought about from next to it. */
function inSecondSession(work: (module: pkcs11.PKCS11, slot: pkcs11.Handle) => void) {
  const module = new pkcs11.PKCS11();
  module.load(token.library); // the same library in the same process: its state is the one under test
  const slot = module.C_GetSlotList(true).find((each) => module.C_GetTokenInfo(each).label.trimEnd() === token.label);
  if (slot === undefined) throw new Error('no slot');
  work(module, slot);
}

const ENDED = 'its library was ended';
test.each([
  ['its sessions were closed', () => inSecondSession((module, slot) => module.C_CloseAllSessions(slot))],
  [ENDED, () => inSecondSession((module) => module.C_Finalize())],
  [
    'its library was ended and started again',
    () =>
      inSecondSession((module) => {
        module.C_Finalize();
        module.C_Initialize({ flags: pkcs11.CKF_OS_LOCKING_OK });
      }),
  ],
])('signs on and finds keys after %s, and makes keys', async (name, lose) => {
  const { keys, key } = await open();
  const digest = createHash('sha256').update('content').digest();
  const expectSigned = async (times: number) => {
    const signatures = await Promise.all(Array.from({ length: times }, () => key.sign('SHA256', digest)));
    for (const signature of signatures) {
      expect(verify('sha256', Buffer.from('content'), key.publicKey, signature)).toBe(true);
    }
  };
  await expectSigned(1);
  lose();
  await expectSigned(20);
  lose();
  await keys.check([key.id]);
  lose();
  await expect(keys.find('00'.repeat(16))).rejects.toMatchObject({ code: 'key-not-found' });
  lose();
  // To make a key takes long, and it is begun again as the others are.
  if (name === ENDED) await (await keys.generate('another', KEY_BITS)).sign('SHA256', digest);
  await expectSigned(1);
  await keys.close();
});

test.each([
  ['token', 'token-not-found', true],
  ['folder of tokens, without which the library does not start,', 'hsm-failed', false],
])('a missing %s is an error until it is back', async (_, code, hasFolder) => {
  const { keys, key } = await open();
  const away = `${tokenFolder(folder.path)}.away`;
  inSecondSession((module) => module.C_Finalize());
  await rename(tokenFolder(folder.path), away);
  if (hasFolder) await mkdir(tokenFolder(folder.path));
  await expect(key.sign('SHA256', DIGEST)).rejects.toMatchObject({ code });
  await expect(keys.check([key.id])).rejects.toMatchObject({ code });
  await rm(tokenFolder(folder.path), { recursive: true, force: true });
  await rename(away, tokenFolder(folder.path));
  pass(1100);
  expect(await key.sign('SHA256', DIGEST)).toHaveLength(256);
  await keys.close();
});

test('does not try a rejected PIN again before a PIN is set, even where it would be right', async () => {
  const { keys, key } = await open();
  const changePin = (module: pkcs11.PKCS11, slot: pkcs11.Handle, before: string, after: string) => {
    const session = module.C_OpenSession(slot, pkcs11.CKF_SERIAL_SESSION | pkcs11.CKF_RW_SESSION);
    module.C_SetPIN(session, before, after);
    module.C_Finalize();
  };
  inSecondSession((module, slot) => changePin(module, slot, token.pin, 'the next pin'));
  const uses = [() => key.sign('SHA256', DIGEST), () => keys.check([key.id]), () => keys.find('00'.repeat(16))];
  const expectRejected = async () => {
    for (const use of uses) await expect(use()).rejects.toMatchObject({ code: 'pin-rejected', exitCode: 2 });
  };
  await expectRejected();
  const library = new pkcs11.PKCS11();
  library.load(token.library);
  library.C_Initialize({ flags: pkcs11.CKF_OS_LOCKING_OK });
  inSecondSession((module, slot) => changePin(module, slot, 'the next pin', token.pin));
  for (const later of [1100, 60_000]) {
    pass(later);
    await expectRejected();
  }
  keys.usePin(token.pin);
  expect(await key.sign('SHA256', DIGEST)).toHaveLength(256);
  await keys.close();
});

test('a key that is removed is an error until it is put back, and other keys continue', async () => {
  const { keys, key: other } = await open();
  const key = await keys.find(second.id);
  const { place, names } = await keyFiles();
  const own = names.filter((file) => !otherFiles.names.includes(file));
  for (const file of own) await rename(join(place, file), folder.at(file));
  await expect(key.sign('SHA256', DIGEST)).rejects.toMatchObject({ code: 'key-not-found' });
  await expect(keys.check([key.id])).rejects.toMatchObject({ code: 'key-not-found' });
  await keys.check([key.id, other.id]);
  expect(await other.sign('SHA256', DIGEST)).toHaveLength(256);
  for (const file of own) await rename(folder.at(file), join(place, file));
  pass(5100);
  expect(await key.sign('SHA256', DIGEST)).toHaveLength(256);
  await keys.check([key.id]);
  await keys.close();
});

test('a server that started without one of its keys finds it once it is put back', async () => {
  const { place, names: own } = await keyFiles();
  for (const file of own) await rename(join(place, file), folder.at(file));
  const keys = await openPkcs11(token);
  await expect(keys.find(first.id)).rejects.toMatchObject({ code: 'key-not-found' });
  for (const file of own) await rename(folder.at(file), join(place, file));
  pass(5100);
  expect(await (await keys.find(first.id)).sign('SHA256', DIGEST)).toHaveLength(256);
  await keys.close();
});
