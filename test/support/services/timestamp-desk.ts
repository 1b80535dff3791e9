/** Makes the replies of the tests' timestamp authority: good ones, and each kind of bad one. */

import { createHash, randomBytes } from 'node:crypto';
import { parts, readDer } from '../../../src/asn1/read.ts';
import {
  contextConstructed,
  encode,
  objectIdentifier,
  octetString,
  sequence,
  smallInteger,
} from '../../../src/asn1/write.ts';
import { buildToken, signingCertificateV2, signingTime, timeNow } from '../../unit/timestamp/support/build-token.ts';
import { flipped } from '../flipped.ts';
import { algorithm as algorithmOf } from '../signed-files/hostile-cms.ts';
import type { TimestampCertificate, TimestampPki } from './timestamp-pki.ts';

export interface StampOptions {
  readonly algorithm?: keyof typeof DIGEST_OIDS;
  /** As in `20240601120000Z`, `20240601120000.125Z`. */
  readonly genTime?: string;
  readonly mode?: string;
}

export const POLICY = '1.3.6.1.4.1.99999.1';
const OTHER_POLICY = '1.3.6.1.4.1.99999.2';

const DIGEST_OIDS = {
  md5: '1.2.840.113549.2.5',
  sha1: '1.3.14.3.2.26',
  sha256: '2.16.840.1.101.3.4.2.1',
  sha384: '2.16.840.1.101.3.4.2.2',
  sha512: '2.16.840.1.101.3.4.2.3',
} as const;

/** The content of a token, and its signer. Each encoded member is a whole DER element. */
interface Token {
  readonly imprint: Uint8Array;
  readonly nonce: Uint8Array | undefined;
  readonly policy: string;
  readonly genTime: string;
  readonly signer: TimestampCertificate;
  readonly carries: 'signer' | 'twin' | 'nothing';
}

type Change = (asked: Token) => Partial<Token>;
export type ReplyMode = 'granted-with-mods' | 'reject' | 'corrupt' | keyof typeof MODES;

const MODES = {
  // A good token, but for another request.
  replay: () => ({ imprint: imprintOf(randomBytes(32), 'sha256'), nonce: encode(0x02, Buffer.from('4711', 'hex')) }),
  'nonce-wrong': ({ nonce }) => ({ nonce: nonce && flipped(nonce, -1) }),
  'nonce-missing': () => ({ nonce: undefined }),
  'imprint-wrong': ({ imprint }) => ({ imprint: flipped(imprint, -3) }),
  // SHA-2 becomes the SHA-3 of the same length, by the last octet of its identifier.
  'imprint-algorithm-wrong': ({ imprint }) => {
    const last = imprint.indexOf(5) - 1; // a NULL follows
    return { imprint: imprint.with(last, (imprint[last] ?? 0) + 7) };
  },
  'policy-wrong': () => ({ policy: OTHER_POLICY }),
  'certificate-missing': () => ({ carries: 'nothing' }),
  'certificate-expired': () => ({ signer: 'expired' }),
  // It has the same name, serial number and key.
  'certificate-differs': () => ({ carries: 'twin' }),
  'purpose-uncritical': () => ({ signer: 'uncritical' }),
  'purpose-several': () => ({ signer: 'several' }),
  'purpose-wrong': () => ({ signer: 'signer' }),
  past: () => ({ genTime: '20240601120000Z' }),
  future: () => ({ genTime: '20400601120000Z' }),
} satisfies Record<string, Change>;

export function createTimestampDesk(pki: TimestampPki) {
  const tokenFor = (asked: Token, mode: string): Uint8Array => {
    const changes: Readonly<Record<string, Change>> = MODES;
    const token = { ...asked, ...changes[mode]?.(asked) };
    const signer = pki.certificates[token.signer];
    const carried = token.carries === 'twin' ? pki.certificates.twin : signer;
    const made = buildToken({
      signer,
      info: sequence(
        smallInteger(1),
        objectIdentifier(token.policy),
        token.imprint,
        encode(0x02, Uint8Array.of(0x10), randomBytes(8)),
        encode(0x18, Buffer.from(token.genTime)),
        sequence(smallInteger(1)), // a second: the accuracy
        encode(0x01, Uint8Array.of(0xff)), // ordered
        ...(token.nonce === undefined ? [] : [token.nonce]),
        contextConstructed(0, contextConstructed(4, signer.subject)),
      ),
      attributes: [signingCertificateV2(signer.der), signingTime(timeNow().slice(2))],
      certificates: token.carries === 'nothing' ? [] : [carried.der, pki.root.der],
    });
    return mode === 'corrupt' ? flipped(made, -5) : made;
  };

  return {
    /** The whole TimeStampResp to a TimeStampReq. Modes that it does not know are as `ok`. */
    reply(query: Uint8Array, mode = 'ok'): Buffer {
      if (mode === 'reject') return Buffer.from(sequence(REJECTION));
      const status = smallInteger(mode === 'granted-with-mods' ? 1 : 0);
      return Buffer.from(sequence(sequence(status), tokenFor(readQuery(query), mode)));
    },
    async stamp(
      bytes: Uint8Array,
      { algorithm = 'sha256', mode = 'ok', genTime = timeNow() }: StampOptions = {},
    ): Promise<Buffer> {
      return Buffer.from(tokenFor({ ...DEFAULTS, imprint: imprintOf(bytes, algorithm), genTime }, mode));
    },
  };
}

const REJECTION = sequence(
  smallInteger(2),
  sequence(encode(0x0c, Buffer.from('Requested policy is not supported.'))),
  encode(0x03, Buffer.from('000001', 'hex')), // the last of sixteen bits
);

const DEFAULTS = { nonce: undefined, policy: POLICY, signer: 'tsa', carries: 'signer' } as const;

function readQuery(query: Uint8Array): Token {
  const [, imprint, ...others] = parts(readDer(query, 'query'), 'query');
  if (imprint === undefined) throw new Error('a query without an imprint');
  const nonce = others.find(({ tag }) => tag === 0x02)?.bytes;
  return { ...DEFAULTS, imprint: Uint8Array.from(imprint.bytes), nonce, genTime: timeNow() };
}

function imprintOf(bytes: Uint8Array, name: keyof typeof DIGEST_OIDS): Uint8Array {
  return sequence(algorithmOf(DIGEST_OIDS[name]), octetString(createHash(name).update(bytes).digest()));
}
