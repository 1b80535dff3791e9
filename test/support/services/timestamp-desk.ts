/** Makes the replies of the tests' timestamp authority with the openssl program: good ones, and each kind of bad one. */

import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { parts, readElement } from '../../../src/asn1/read.ts';
import { encode, nullValue, objectIdentifier, octetString, sequence, smallInteger } from '../../../src/asn1/write.ts';
import { readSignedDataFields } from '../../../src/cms/signed-data-fields.ts';
import type { TimestampCertificate, TimestampPki } from './timestamp-pki.ts';

export interface StampOptions {
  readonly algorithm?: keyof typeof DIGEST_OIDS;
  /** As in `20240601120000Z`, `20240601120000.125Z`. */
  readonly genTime?: string;
  readonly mode?: string;
  /** Of ESSCertID: SHA-1 gives its first version. */
  readonly certificateDigest?: 'sha1' | 'sha256' | 'sha512';
  /** In BER: indefinite lengths, the content in pieces. */
  readonly streamed?: boolean;
}

export interface CounterSignOptions {
  readonly algorithm?: 'sha1' | 'sha256' | 'md5';
  readonly certificate?: TimestampCertificate;
}

export const POLICY = '1.3.6.1.4.1.99999.1';
/** Its contents, and those of the other policy that the authority knows. */
const POLICY_OCTETS = Buffer.from('2b06010401868d1f', 'hex');
const OTHER_POLICY = '1.3.6.1.4.1.99999.2';
const TST_INFO = '1.2.840.113549.1.9.16.1.4';

const configuration = (certificateDigest = 'sha256'): string => `[tsa]
default_tsa = authority
[authority]
serial = ./serial
signer_digest = sha256
default_policy = ${POLICY}
other_policies = ${OTHER_POLICY}
digests = md5, sha1, sha256, sha384, sha512, sha3-256, sha3-384, sha3-512
accuracy = secs:1
ordering = yes
tsa_name = yes
ess_cert_id_chain = no
ess_cert_id_alg = ${certificateDigest}
`;

const run = promisify(execFile);

export function createTimestampDesk(pki: TimestampPki) {
  const underWay = new Set<Promise<unknown>>();
  const file = (name: string): string => path.join(pki.folder, name);

  /** A folder of its own for each piece of work: openssl writes the serial number into a file. */
  const work = <T>(does: (at: Workplace) => Promise<T>): Promise<T> => {
    const done = openWorkplace(pki.folder).then(async (at) => {
      try {
        return await does(at);
      } finally {
        await rm(at.folder, { recursive: true, force: true });
      }
    });
    const settled: Promise<unknown> = done.catch(() => undefined).finally(() => underWay.delete(settled));
    underWay.add(settled);
    return done;
  };

  const sign = async (at: Workplace, query: Buffer, certificate: TimestampCertificate = 'tsa'): Promise<Buffer> => {
    await at.write('query', query);
    const signer = ['-signer', file(`${certificate}.crt`), '-inkey', file('tsa.key'), '-chain', file('root.crt')];
    await at.openssl('ts', '-reply', '-config', 'tsa.cnf', '-queryfile', 'query', ...signer, '-out', 'reply');
    return at.read('reply');
  };
  /** The same TSTInfo, changed, signed as any CMS is: `openssl ts` itself refuses to make such a token. */
  const signAgain = async (
    at: Workplace,
    reply: Buffer,
    certificate: TimestampCertificate,
    change: (tstInfo: Buffer) => Buffer = (same) => same,
    more: readonly string[] = [],
  ): Promise<Buffer> => {
    await at.write('token', tokenIn(reply));
    await at.openssl('cms', '-verify', '-noverify', '-inform', 'DER', '-in', 'token', '-out', 'info');
    await at.write('info', change(await at.read('info')));
    const kind = ['-binary', '-nodetach', '-econtent_type', TST_INFO, '-cades', '-nosmimecap', '-md', 'sha256'];
    const signer = ['-signer', file(`${certificate}.crt`), '-inkey', file('tsa.key'), '-certfile', file('root.crt')];
    await at.openssl('cms', '-sign', ...kind, ...more, ...signer, '-in', 'info', '-outform', 'DER', '-out', 'token');
    return Buffer.from(sequence(Buffer.from('3003020100', 'hex'), await at.read('token')));
  };
  const signChanged = (at: Workplace, query: Buffer, part: Buffer, change: (part: Buffer) => void): Promise<Buffer> =>
    sign(at, changed(query, part, change));
  const asking = async (at: Workplace, ...args: string[]): Promise<Buffer> => {
    await at.openssl('ts', '-query', ...args, '-out', 'asked');
    return at.read('asked');
  };

  const OTHERS: Readonly<Record<string, (at: Workplace, query: Buffer) => Promise<Buffer>>> = {
    'granted-with-mods': async (at, query) =>
      changed(await sign(at, query), Buffer.from('3003020100', 'hex'), (status) => status.writeUInt8(1, 4)),
    reject: async (at) => sign(at, await asking(at, '-digest', '00'.repeat(32), '-sha256', '-tspolicy', '1.2.3.4')),
    replay: async (at) => sign(at, await asking(at, '-digest', randomBytes(32).toString('hex'), '-sha256', '-cert')),
    'nonce-wrong': async (at, query) =>
      signChanged(at, query, await nonceOf(at, query), (nonce) => flip(nonce, nonce.length - 1)),
    'nonce-missing': async (at, query) => {
      const { name, digest } = imprintOf(query);
      return sign(at, await asking(at, '-digest', digest.toString('hex'), `-${name}`, '-cert', '-no_nonce'));
    },
    'imprint-wrong': (at, query) => signChanged(at, query, imprintOf(query).digest, (digest) => flip(digest, 3)),
    // SHA-2 becomes the SHA-3 of the same length, by the last octet of its identifier.
    'imprint-algorithm-wrong': (at, query) =>
      signChanged(at, query, imprintOf(query).oid, (oid) => oid.writeUInt8((oid.at(-1) ?? 0) + 7, oid.length - 1)),
    'policy-wrong': (at, query) =>
      signChanged(at, query, Buffer.concat([POLICY_OCTETS, Buffer.of(1)]), (oid) => oid.writeUInt8(2, oid.length - 1)),
    'certificate-missing': (at, query) =>
      signChanged(at, query, Buffer.from('0101ff', 'hex'), (wanted) => wanted.writeUInt8(0, 2)),
    corrupt: async (at, query) => {
      const reply = await sign(at, query);
      flip(reply, reply.length - 5);
      return reply;
    },
    'certificate-expired': (at, query) => sign(at, query, 'expired'),
    'certificate-differs': async (at, query) => {
      const [own, twin] = [derOf(pki.certificatePemOf('tsa')), derOf(pki.certificatePemOf('twin'))];
      return changed(await sign(at, query), own, (certificate) => void twin.copy(certificate));
    },
    'purpose-uncritical': async (at, query) => signAgain(at, await sign(at, query), 'uncritical'),
    'purpose-several': async (at, query) => signAgain(at, await sign(at, query), 'several'),
    'purpose-wrong': async (at, query) => signAgain(at, await sign(at, query), 'signer'),
    past: async (at, query) => signAgain(at, await sign(at, query), 'tsa', withGenTime('20240601120000Z')),
    future: async (at, query) => signAgain(at, await sign(at, query), 'tsa', withGenTime('20400601120000Z')),
  };
  const replyAt = (at: Workplace, query: Buffer, mode: string): Promise<Buffer> =>
    OTHERS[mode]?.(at, query) ?? sign(at, query);

  return {
    /** The whole TimeStampResp to a TimeStampReq. Modes that it does not know are as `ok`. */
    reply: (query: Buffer, mode = 'ok') => work((at) => replyAt(at, query, mode)),
    stamp: (bytes: Uint8Array, { algorithm = 'sha256', genTime, streamed = false, ...options }: StampOptions = {}) =>
      work(async (at) => {
        const { mode = 'ok', certificateDigest } = options;
        await at.write('tsa.cnf', Buffer.from(configuration(certificateDigest)));
        const reply = await replyAt(at, queryFor(bytes, algorithm), mode);
        if (genTime === undefined && !streamed) return tokenIn(reply);
        const change = genTime === undefined ? undefined : withGenTime(genTime);
        await signAgain(at, reply, 'tsa', change, streamed ? ['-stream'] : []);
        return at.read('token');
      }),
    /** The SignerInfo of an older timestamp on this signature value (PKCS#9 countersignature), without its certificate. */
    counterSign: (
      signatureValue: Uint8Array,
      { algorithm = 'sha256', certificate = 'tsa' }: CounterSignOptions = {},
    ): Promise<Buffer> =>
      work(async (at) => {
        await at.write('data', signatureValue);
        const signer = ['-signer', file(`${certificate}.crt`), '-inkey', file('tsa.key'), '-md', algorithm];
        const result = ['-outform', 'DER', '-out', 'cms'];
        await at.openssl('cms', '-sign', '-binary', '-nosmimecap', ...signer, '-in', 'data', ...result);
        return Buffer.from(readSignedDataFields(await at.read('cms')).signers[0].bytes);
      }),
    idle: () => Promise.all(underWay),
  };
}

const DIGEST_OIDS = {
  md5: '1.2.840.113549.2.5',
  sha1: '1.3.14.3.2.26',
  sha256: '2.16.840.1.101.3.4.2.1',
  sha384: '2.16.840.1.101.3.4.2.2',
  sha512: '2.16.840.1.101.3.4.2.3',
} as const;

/** A request for a token with its certificate: made here, because one process for each token is enough. */
function queryFor(bytes: Uint8Array, algorithm: NonNullable<StampOptions['algorithm']>): Buffer {
  const digest = octetString(createHash(algorithm).update(bytes).digest());
  const imprint = sequence(sequence(objectIdentifier(DIGEST_OIDS[algorithm]), nullValue()), digest);
  return Buffer.from(sequence(smallInteger(1), imprint, encode(0x01, Uint8Array.of(0xff))));
}

function tokenIn(reply: Buffer): Buffer {
  const [, token] = parts(readElement(reply, 'the reply'), 'the reply');
  if (token === undefined) throw new Error('the authority gave no token');
  return Buffer.from(token.bytes);
}

type Workplace = Awaited<ReturnType<typeof openWorkplace>>;

async function openWorkplace(parent: string) {
  const folder = await mkdtemp(path.join(parent, 'work-'));
  await writeFile(path.join(folder, 'tsa.cnf'), configuration());
  await writeFile(path.join(folder, 'serial'), `10${randomBytes(8).toString('hex')}\n`);
  return {
    folder,
    openssl: async (...args: readonly string[]) => (await run('openssl', args, { cwd: folder })).stdout,
    read: (name: string) => readFile(path.join(folder, name)),
    write: (name: string, contents: Uint8Array) => writeFile(path.join(folder, name), contents),
  };
}

const IMPRINTS = [
  { name: 'sha1', oid: Buffer.from('06052b0e03021a', 'hex'), length: 20 },
  { name: 'sha256', oid: Buffer.from('0609608648016503040201', 'hex'), length: 32 },
  { name: 'sha384', oid: Buffer.from('0609608648016503040202', 'hex'), length: 48 },
  { name: 'sha512', oid: Buffer.from('0609608648016503040203', 'hex'), length: 64 },
] as const;

function imprintOf(query: Buffer): { name: string; oid: Buffer; digest: Buffer } {
  for (const { name, oid, length } of IMPRINTS) {
    const start = query.indexOf(Buffer.of(0x04, length), query.indexOf(oid));
    if (query.includes(oid) && start > 0) return { name, oid, digest: query.subarray(start + 2, start + 2 + length) };
  }
  throw new Error('a query whose imprint is of no known kind');
}

async function nonceOf(at: Workplace, query: Buffer): Promise<Buffer> {
  await at.write('query', query);
  const text = await at.openssl('ts', '-query', '-in', 'query', '-text');
  return Buffer.from(/Nonce: 0x([0-9A-F]+)/.exec(text)?.[1] ?? '', 'hex');
}

/** A copy with the first place of `part` changed. The same bytes where there is none. */
function changed(bytes: Buffer, part: Buffer, change: (part: Buffer) => void): Buffer {
  const copy = Buffer.from(bytes);
  const start = part.length === 0 ? -1 : copy.indexOf(part);
  if (start >= 0) change(copy.subarray(start, start + part.length));
  return copy;
}

function flip(bytes: Buffer, position: number): void {
  bytes.writeUInt8(bytes.readUInt8(position) ^ 0x55, position);
}

/** TSTInfo with another genTime, of whatever length. */
function withGenTime(genTime: string): (tstInfo: Buffer) => Buffer {
  return (tstInfo) => {
    const start = tstInfo.indexOf(Buffer.from('180f', 'hex'));
    const headerLength = tstInfo.readUInt8(1) < 0x80 ? 2 : 2 + (tstInfo.readUInt8(1) & 0x7f);
    const before = tstInfo.subarray(headerLength, start);
    return Buffer.from(sequence(before, encode(0x18, Buffer.from(genTime)), tstInfo.subarray(start + 17)));
  };
}

function derOf(pem: string): Buffer {
  return Buffer.from(pem.replace(/-----[^-]+-----/g, ''), 'base64');
}
