import { constants, createHash, publicDecrypt, verify } from 'node:crypto';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pkcs11 from 'pkcs11js';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DIGEST_ALGORITHMS } from '../../../src/crypto/algorithms.ts';
import { digestInfo } from '../../src/keys/digest-info.ts';
import { createToken, openPkcs11, type TokenOptions } from '../../src/keys/pkcs11.ts';
import { configureSoftHsm, findSoftHsm, tokenFolder } from '../../src/keys/softhsm.ts';

let folder: string;
let token: TokenOptions;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'codesign-token-'));
  await mkdir(tokenFolder(folder));
  await configureSoftHsm(folder, process.env);
  token = { library: findSoftHsm(undefined), label: 'a token of a test', pin: 'a pin of a test' };
  await createToken(token, 'another pin');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test('a key that was made signs every algorithm’s DigestInfo, and is found again after a restart', async () => {
  const first = await openPkcs11(token, 2);
  const made = await first.generate('a key', 2048);
  await first.close();

  const keys = await openPkcs11(token, 2);
  const key = await keys.find(made.id);
  expect(key?.publicKey.equals(made.publicKey)).toBe(true);
  expect(key?.publicKey.asymmetricKeyDetails).toMatchObject({ modulusLength: 2048, publicExponent: 65537n });
  for (const algorithm of DIGEST_ALGORITHMS) {
    const digest = createHash(algorithm).update('content').digest();
    const signature = Buffer.from((await key?.sign(algorithm, digest)) ?? []);
    expect(verify(algorithm, Buffer.from('content'), made.publicKey, signature)).toBe(true);
    const padded = { key: made.publicKey, padding: constants.RSA_PKCS1_PADDING };
    expect(publicDecrypt(padded, signature).equals(digestInfo(algorithm, digest))).toBe(true);
  }
  expect(await keys.find('00'.repeat(16))).toBeUndefined();
  await keys.close();
});

test('the private half is sensitive, not extractable, signs and nothing else, and was always so', async () => {
  const keys = await openPkcs11(token, 1);
  await keys.generate('a key', 2048);
  await keys.close();

  const module = new pkcs11.PKCS11();
  module.load(token.library);
  module.C_Initialize({ flags: pkcs11.CKF_OS_LOCKING_OK });
  try {
    const [slot] = module.C_GetSlotList(true);
    if (slot === undefined) throw new Error('no slot');
    const session = module.C_OpenSession(slot, pkcs11.CKF_SERIAL_SESSION | pkcs11.CKF_RW_SESSION);
    module.C_Login(session, pkcs11.CKU_USER, token.pin);
    module.C_FindObjectsInit(session, [{ type: pkcs11.CKA_CLASS, value: pkcs11.CKO_PRIVATE_KEY }]);
    const [handle] = module.C_FindObjects(session, 2);
    module.C_FindObjectsFinal(session);
    if (handle === undefined) throw new Error('no key');
    const flags = {
      CKA_PRIVATE: true,
      CKA_SENSITIVE: true,
      CKA_ALWAYS_SENSITIVE: true,
      CKA_EXTRACTABLE: false,
      CKA_NEVER_EXTRACTABLE: true,
      CKA_LOCAL: true,
      CKA_SIGN: true,
      CKA_DECRYPT: false,
      CKA_UNWRAP: false,
    } as const;
    for (const [name, expected] of Object.entries(flags)) {
      const type = pkcs11[name as keyof typeof flags];
      const [attribute] = module.C_GetAttributeValue(session, handle, [{ type }]);
      expect([name, attribute?.value]).toEqual([name, Buffer.of(expected ? 1 : 0)]);
    }
    for (const type of [pkcs11.CKA_PRIVATE_EXPONENT, pkcs11.CKA_PRIME_1, pkcs11.CKA_COEFFICIENT]) {
      expect(() => module.C_GetAttributeValue(session, handle, [{ type }])).toThrow(/CKR_ATTRIBUTE_SENSITIVE/);
    }
    expect(() => module.C_SetAttributeValue(session, handle, [{ type: pkcs11.CKA_EXTRACTABLE, value: true }])).toThrow(
      /CKR_/,
    );
  } finally {
    module.C_Finalize();
    module.close();
  }
});

test('many signatures at once share the sessions, and closing waits for them', async () => {
  const keys = await openPkcs11(token, 3);
  const key = await keys.generate('a key', 2048);
  const contents = Array.from({ length: 60 }, (_, index) => Buffer.from(`content ${index}`));
  const under = contents.map((content) => key.sign('SHA256', createHash('sha256').update(content).digest()));
  await Promise.resolve();
  await keys.close();
  const signatures = await Promise.all(under);
  for (const [index, signature] of signatures.entries()) {
    expect(verify('sha256', contents[index] ?? Buffer.alloc(0), key.publicKey, signature)).toBe(true);
  }
});

test('a signature the HSM refuses is an error of its own, and the next one works', async () => {
  const keys = await openPkcs11(token, 1);
  const key = await keys.generate('a key', 2048);
  await expect(key.sign('SHA256', Buffer.alloc(300))).rejects.toMatchObject({ code: 'hsm-failed' });
  expect(await key.sign('SHA256', Buffer.alloc(32))).toHaveLength(256);
  await keys.close();
});

test.each([
  ['a label that no token has', { label: 'another token' }, 'token-not-found'],
  ['a wrong PIN', { pin: 'wrong pin' }, 'hsm-failed'],
  ['a library that is none', { library: process.execPath }, 'hsm-failed'],
])('refuses %s, and can open the token after that', async (_name, wrong, code) => {
  await expect(openPkcs11({ ...token, ...wrong }, 1)).rejects.toMatchObject({ code });
  await (await openPkcs11(token, 1)).close();
});

test('finds no library where there is none, and says where it looked', () => {
  expect(() => findSoftHsm('/no/such/library.so')).toThrow(
    expect.objectContaining({
      code: 'pkcs11-library-not-found',
      message: expect.stringContaining('/no/such/library.so'),
    }),
  );
});

/** What the library does to its application when the token is pulled or restarted, brought about from beside it. */
function beside(work: (module: pkcs11.PKCS11, slot: pkcs11.Handle) => void) {
  const module = new pkcs11.PKCS11();
  module.load(token.library); // the same library in the same process: its state is the one under test
  const slot = module.C_GetSlotList(true).find((each) => module.C_GetTokenInfo(each).label.trimEnd() === token.label);
  if (slot === undefined) throw new Error('no slot');
  work(module, slot);
}

test.each([
  ['its sessions were closed', () => beside((module, slot) => module.C_CloseAllSessions(slot))],
  ['its library was ended', () => beside((module) => module.C_Finalize())],
  [
    'its library was ended and begun anew',
    () =>
      beside((module) => {
        module.C_Finalize();
        module.C_Initialize({ flags: pkcs11.CKF_OS_LOCKING_OK });
      }),
  ],
])('signs on, finds keys and makes keys after %s', async (_name, lose) => {
  const keys = await openPkcs11(token, 2);
  const key = await keys.generate('a key', 2048);
  const digest = createHash('sha256').update('content').digest();
  const expectSigned = (signature: Uint8Array) =>
    expect(verify('sha256', Buffer.from('content'), key.publicKey, signature)).toBe(true);
  expectSigned(await key.sign('SHA256', digest));
  lose();
  const signatures = await Promise.all(Array.from({ length: 20 }, () => key.sign('SHA256', digest)));
  for (const signature of signatures) expectSigned(signature);
  lose();
  await keys.check();
  lose();
  expect(await keys.find('00'.repeat(16))).toBeUndefined();
  lose();
  expectSigned(
    await (await keys.generate('another', 2048)).sign('SHA256', digest).then(() => key.sign('SHA256', digest)),
  );
  await keys.close();
});

test('a token that is away is an error until it is back', async () => {
  const keys = await openPkcs11(token, 2);
  const key = await keys.generate('a key', 2048);
  const away = `${tokenFolder(folder)}.away`;
  beside((module) => module.C_Finalize());
  await rename(tokenFolder(folder), away);
  await mkdir(tokenFolder(folder));
  await expect(key.sign('SHA256', Buffer.alloc(32))).rejects.toMatchObject({ code: 'token-not-found' });
  await expect(keys.check()).rejects.toMatchObject({ code: 'token-not-found' });
  await rm(tokenFolder(folder), { recursive: true });
  await rename(away, tokenFolder(folder));
  await new Promise((resolve) => setTimeout(resolve, 1100));
  expect(await key.sign('SHA256', Buffer.alloc(32))).toHaveLength(256);
  await keys.close();
});
