import { createPublicKey, type KeyObject, randomBytes, X509Certificate } from 'node:crypto';
import type * as Pkcs11 from 'pkcs11js';
import type { DigestAlgorithm } from '../../../src/crypto/algorithms.ts';
import { ServerError } from '../errors.ts';
import { attempt, findSlot, type Handle, LABEL_LENGTH, type Library, load, unload } from './pkcs11-library.ts';
import { checkSignature, digestInfo } from './signature-check.ts';
import { logIn } from './token-login.ts';

export const RSA_BITS = [2048, 3072, 4096] as const;
export type RsaBits = (typeof RSA_BITS)[number];

export interface SigningKey {
  /** CKA_ID in lower-case hexadecimal. */
  readonly id: string;
  readonly publicKey: KeyObject;
  /**
   * Makes an RSASSA-PKCS1-v1_5 signature (RFC 8017, section 8.2) in the HSM, and verifies it.
   * @param chain PEM with the certificate that verifies the signature, instead of the public key in the HSM
   */
  sign(algorithm: DigestAlgorithm, digest: Uint8Array, chain?: string): Promise<Uint8Array>;
}

export type KeyStore = ReturnType<typeof openToken>;

const KEY_ID_BYTES = 16;
const PUBLIC_EXPONENT = Buffer.from([1, 0, 1]);

export interface TokenOptions {
  readonly library: string;
  readonly label: string;
  readonly pin: string;
}

/** Logs in to a token. The caller must limit the number of concurrent operations. */
export async function openPkcs11(options: TokenOptions): Promise<KeyStore> {
  const library = await load(options.library);
  try {
    return openToken(library, options);
  } catch (error) {
    unload(library);
    throw error;
  }
}

export async function createToken(options: TokenOptions, securityOfficerPin: string): Promise<void> {
  const library = await load(options.library);
  const { p11, module } = library;
  try {
    attempt('initialise a token', () => {
      const free = module
        .C_GetSlotList(true)
        .find((slot) => (module.C_GetTokenInfo(slot).flags & p11.CKF_TOKEN_INITIALIZED) === 0);
      if (free === undefined) throw new Error('no slot is free');
      module.C_InitToken(free, securityOfficerPin, options.label.padEnd(LABEL_LENGTH));
      // SoftHSM derives the slot number from the serial number of the initialised token.
      const slot = findSlot(library, options.label);
      const session = module.C_OpenSession(slot, p11.CKF_SERIAL_SESSION | p11.CKF_RW_SESSION);
      module.C_Login(session, p11.CKU_SO, securityOfficerPin);
      module.C_InitPIN(session, options.pin);
      module.C_Logout(session);
      module.C_CloseSession(session);
    });
  } finally {
    unload(library);
  }
}

function openToken(library: Library, token: TokenOptions) {
  const { p11, module } = library;
  const login = logIn(library, token);
  const keys = new Map<string, SigningKey>();
  const leafKeys = new Map<string, KeyObject>();
  const keyOfLeaf = (chain: string): KeyObject => {
    const known = leafKeys.get(chain) ?? new X509Certificate(chain).publicKey;
    leafKeys.set(chain, known);
    return known;
  };

  const remember = (id: Buffer, publicKey: KeyObject): SigningKey => {
    const length = Math.ceil((publicKey.asymmetricKeyDetails?.modulusLength ?? 0) / 8);
    const key: SigningKey = {
      id: id.toString('hex'),
      publicKey,
      sign: (algorithm, digest, chain) =>
        login.withSession('signing', 'sign', async (session, handles) => {
          const handle = handles.get(key.id) ?? findPrivateKey(session, id);
          handles.set(key.id, handle);
          module.C_SignInit(session, { mechanism: p11.CKM_RSA_PKCS }, handle);
          const signed = digestInfo(algorithm, digest);
          const signature = await module.C_SignAsync(session, signed, Buffer.alloc(length));
          checkSignature(signed, signature, chain === undefined ? publicKey : keyOfLeaf(chain));
          return signature;
        }),
    };
    keys.set(key.id, key);
    return key;
  };
  const publicKeyOf = (session: Handle, handle: Handle): KeyObject => {
    const [modulus, exponent] = module.C_GetAttributeValue(session, handle, [
      { type: p11.CKA_MODULUS },
      { type: p11.CKA_PUBLIC_EXPONENT },
    ]);
    const base64url = (value: unknown) => Buffer.from(value as Uint8Array).toString('base64url');
    return createPublicKey({
      format: 'jwk',
      key: { kty: 'RSA', n: base64url(modulus?.value), e: base64url(exponent?.value) },
    });
  };
  const findObject = (session: Handle, objectClass: number, id: Buffer): Handle | undefined => {
    module.C_FindObjectsInit(session, [
      { type: p11.CKA_CLASS, value: objectClass },
      { type: p11.CKA_ID, value: id },
    ]);
    const [found] = module.C_FindObjects(session, 1);
    module.C_FindObjectsFinal(session);
    return found;
  };

  const findPrivateKey = (session: Handle, id: Buffer): Handle => {
    const handle = findObject(session, p11.CKO_PRIVATE_KEY, id);
    if (handle === undefined) throw new ServerError('key-not-found', { id: id.toString('hex') });
    return handle;
  };

  return {
    /** @param label name of the key that operators see */
    generate: (label: string, bits: RsaBits): Promise<SigningKey> =>
      login.withSession('generating', 'make a key', async (session) => {
        const id = randomBytes(KEY_ID_BYTES);
        const { publicTemplate, privateTemplate } = keyTemplates(p11, id, label, bits);
        const mechanism = { mechanism: p11.CKM_RSA_PKCS_KEY_PAIR_GEN };
        const pair = await module.C_GenerateKeyPairAsync(session, mechanism, publicTemplate, privateTemplate);
        return remember(id, publicKeyOf(session, pair.publicKey));
      }),
    async find(id: string): Promise<SigningKey> {
      const rawId = Buffer.from(id, 'hex');
      const read = async (session: Handle) => {
        findPrivateKey(session, rawId);
        const publicKey = findObject(session, p11.CKO_PUBLIC_KEY, rawId);
        if (publicKey === undefined) throw new ServerError('key-not-found', { id });
        return remember(rawId, publicKeyOf(session, publicKey));
      };
      return keys.get(id) ?? (await login.withSession('signing', 'find a key', read));
    },
    /** Rejects if the HSM does not respond or has none of these keys. */
    check: (ids: readonly string[]): Promise<void> =>
      login.withSession('signing', 'answer', async (session) => {
        module.C_GetSessionInfo(session);
        const isThere = (id: string) => findObject(session, p11.CKO_PRIVATE_KEY, Buffer.from(id, 'hex')) !== undefined;
        const [first] = ids;
        if (first !== undefined && !ids.some(isThere)) throw new ServerError('key-not-found', { id: first });
      }),
    usePin: login.usePin,
    async close() {
      await login.close();
      unload(library);
    },
  };
}

function keyTemplates(p11: typeof Pkcs11, id: Buffer, label: string, bits: RsaBits) {
  const shared = [
    { type: p11.CKA_TOKEN, value: true },
    { type: p11.CKA_ID, value: id },
    { type: p11.CKA_LABEL, value: label },
  ];
  return {
    publicTemplate: [
      ...shared,
      { type: p11.CKA_VERIFY, value: true },
      { type: p11.CKA_MODULUS_BITS, value: bits },
      { type: p11.CKA_PUBLIC_EXPONENT, value: PUBLIC_EXPONENT },
    ],
    privateTemplate: [
      ...shared,
      { type: p11.CKA_PRIVATE, value: true },
      { type: p11.CKA_SENSITIVE, value: true },
      { type: p11.CKA_EXTRACTABLE, value: false },
      { type: p11.CKA_SIGN, value: true },
      { type: p11.CKA_DECRYPT, value: false },
      { type: p11.CKA_UNWRAP, value: false },
    ],
  };
}
