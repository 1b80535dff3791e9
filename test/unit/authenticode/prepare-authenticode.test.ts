/** The bytes of an Authenticode signature, piece by piece, checked by openssl and next to what osslsigncode makes. */

import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { SPC_SP_OPUS_INFO } from '../../../src/asn1/object-identifiers.ts';
import { parts, readElement } from '../../../src/asn1/read.ts';
import { readAuthenticode } from '../../../src/authenticode/read-authenticode.ts';
import { attributeValues, parseSignedData } from '../../../src/cms/parse-signed-data.ts';
import { DIGEST_ALGORITHMS } from '../../../src/crypto/algorithms.ts';
import { spcPeImageData } from '../../../src/formats/pe/image-data.ts';
import { openssl } from '../../support/programs/openssl.ts';
import { osslsigncodeSignature } from '../../support/programs/osslsigncode.ts';
import {
  chainOf,
  prepareRequest,
  requestFor,
  signAuthenticode,
} from '../../support/signed-files/authenticode-signing.ts';
import { type IssuedCertificate, issue, makePki, testKey } from '../../support/signed-files/pki.ts';
import { isValid } from './is-valid.ts';

const pki = makePki();
const leaf = pki.leaf();
const chain = await chainOf(leaf, pki.intermediate, pki.root);
const cms = signAuthenticode(requestFor(chain), leaf);
const [signer] = parseSignedData(cms).signers;

const hex = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString('hex');
const ofAttribute = (bytes: Uint8Array, type: string): string[] =>
  attributeValues(parseSignedData(bytes).signers[0].signedAttributes, type).map((value) => hex(value.bytes));

describe('the structure', () => {
  it('has exactly four signed attributes: no time and no algorithm protection', () => {
    expect(signer.signedAttributes.map(({ type }) => type).sort()).toEqual([
      '1.2.840.113549.1.9.3', // contentType
      '1.2.840.113549.1.9.4', // messageDigest
      '1.3.6.1.4.1.311.2.1.11', // SpcStatementType
      '1.3.6.1.4.1.311.2.1.12', // SpcSpOpusInfo
    ]);
    expect(signer.unsignedAttributes).toEqual([]);
  });

  it('has its attributes in the order of DER', () => {
    for (const request of [requestFor(chain), requestFor(chain, { description: 'A name', url: 'https://a.test/' })]) {
      const { signedAttributes } = prepareRequest(request);
      const encodings = parts(readElement(signedAttributes, 'attributes'), 'attributes').map(({ bytes }) => bytes);
      expect(encodings).toHaveLength(4);
      expect([...encodings].sort(Buffer.compare)).toEqual(encodings);
    }
  });

  it('signs what the SignerInfo holds, under the tag of a SET', () => {
    const { signedAttributes } = prepareRequest(requestFor(chain));
    expect(signedAttributes[0]).toBe(0x31);
    const inside = Buffer.from(signedAttributes);
    inside[0] = 0xa0;
    expect(Buffer.from(cms).includes(inside)).toBe(true);
  });

  it('digests the indirect data without tag and length', () => {
    const { content } = parseSignedData(cms);
    expect(content?.tag).toBe(0x30);
    const digest = createHash('sha256')
      .update(content?.contents ?? new Uint8Array())
      .digest('hex');
    expect(ofAttribute(cms, '1.2.840.113549.1.9.4')).toEqual([`0420${digest}`]);
  });

  it('has SpcPeImageData without flags and with the link <<<Obsolete>>>', () => {
    const text = Buffer.from('<<<Obsolete>>>', 'utf16le').swap16().toString('hex');
    expect(hex(spcPeImageData())).toBe(`3025030100a020a21e801c${text}`);
  });

  it('calls the signer an individual', () => {
    expect(ofAttribute(cms, '1.3.6.1.4.1.311.2.1.11')).toEqual(['300c060a2b060104018237020115']);
  });

  it('has SpcSpOpusInfo, empty without a description', () => {
    expect(ofAttribute(cms, SPC_SP_OPUS_INFO)).toEqual(['3000']);
    expect(
      ofAttribute(signAuthenticode(requestFor(chain, { description: '', url: '' }), leaf), SPC_SP_OPUS_INFO),
    ).toEqual(['3000']);
  });

  it('writes the description as BMPString, ASCII or not, and the URL as IA5String in Punycode', () => {
    const made = signAuthenticode(requestFor(chain, { description: 'aé😀', url: 'https://exämple.test/ü?x' }), leaf);
    const url = Buffer.from('https://xn--exmple-cua.test/%C3%BC?x').toString('hex');
    const name = '006100e9d83dde00';
    expect(ofAttribute(made, SPC_SP_OPUS_INFO)).toEqual([`3034a00a8008${name}a1268024${url}`]);
  });

  it('keeps an ASCII URL as it was given', () => {
    const made = signAuthenticode(requestFor(chain, { url: 'https://example.test' }), leaf);
    expect(ofAttribute(made, SPC_SP_OPUS_INFO)[0]).toContain(Buffer.from('https://example.test').toString('hex'));
    expect(ofAttribute(made, SPC_SP_OPUS_INFO)[0]).not.toContain(Buffer.from('https://example.test/').toString('hex'));
  });

  it('carries a timestamp token under its unsigned attribute, without touching what is signed', () => {
    const token = Uint8Array.of(0x30, 0x03, 0x02, 0x01, 0x05);
    const stamped = parseSignedData(signAuthenticode(requestFor(chain), leaf, token));
    const [{ unsignedAttributes, signature }] = stamped.signers;
    expect(attributeValues(unsignedAttributes, '1.3.6.1.4.1.311.3.3.1').map(({ bytes }) => hex(bytes))).toEqual([
      hex(token),
    ]);
    expect(hex(signature)).toBe(hex(signer.signature));
    expect(isValid(readAuthenticode(stamped.bytes))).toBe(true);
  });
});

describe('the certificates', () => {
  const embedded = async (...given: readonly IssuedCertificate[]) => {
    const { certificates } = parseSignedData(signAuthenticode(requestFor(await chainOf(...given)), given[0] ?? leaf));
    return certificates.map(hex).sort();
  };

  it('are leaf and intermediates, without the root', async () => {
    expect(await embedded(leaf, pki.intermediate, pki.root)).toEqual(
      [leaf, pki.intermediate].map(({ der }) => hex(der)).sort(),
    );
  });

  it('are the leaf alone where it signed itself', async () => {
    const self = issue({ commonName: 'Self', key: testKey('rsa-2048') });
    expect(await embedded(self)).toEqual([hex(self.der)]);
  });

  it('stand in the order of DER, whatever order they were given in', async () => {
    const { certificates } = parseSignedData(cms);
    expect([...certificates].sort(Buffer.compare)).toEqual(certificates);
  });
});

describe('every algorithm and key size', () => {
  it.each([...DIGEST_ALGORITHMS.map((each) => ['rsa-2048', each] as const), ['rsa-3072', 'SHA256'] as const])(
    'verifies with openssl and by our own reading: %s, %s',
    async (kind, algorithm) => {
      const signing = pki.leaf({ key: testKey(kind) });
      const made = signAuthenticode(requestFor(await chainOf(signing, pki.intermediate), { algorithm }), signing);
      const read = readAuthenticode(made);
      expect([read.algorithm, isValid(read), read.signerName]).toEqual([algorithm, true, 'Test Publisher']);
      expect(opensslVerifies(made)).toBe(true);
    },
  );

  it('but not when a byte is changed', () => {
    const changed = Buffer.from(cms);
    changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
    expect(isValid(readAuthenticode(changed))).toBe(false);
    expect(opensslVerifies(changed)).toBe(false);
  });
});

describe('next to osslsigncode, with the same certificates, description and URL', async () => {
  const theirs = parseSignedData(osslsigncodeSignature(leaf, [pki.intermediate, pki.root]));
  const digest = readAuthenticode(theirs.bytes).contentDigest;
  const ours = parseSignedData(
    signAuthenticode(
      requestFor(chain, { contentDigest: digest, description: 'A name', url: 'https://a.test/x' }),
      leaf,
    ),
  );

  it('the signer, its algorithms and its certificate are the same', () => {
    const [mine] = ours.signers;
    const [other] = theirs.signers;
    expect(mine.issuerAndSerial).toEqual(other.issuerAndSerial);
    expect([mine.digestAlgorithm, mine.signatureAlgorithm]).toEqual([other.digestAlgorithm, other.signatureAlgorithm]);
    expect(hex(mine.certificate)).toBe(hex(other.certificate));
    expect(hex(ours.bytes.subarray(4, 15))).toBe(hex(theirs.bytes.subarray(4, 15)));
  });

  it('contentType and SpcStatementType are the same', () => {
    for (const type of ['1.2.840.113549.1.9.3', '1.3.6.1.4.1.311.2.1.11']) {
      expect(ofAttribute(ours.bytes, type)).toEqual(ofAttribute(theirs.bytes, type));
    }
  });

  it('the indirect data differs in the flags at most: signtool sets none, osslsigncode since 2.6 one that means nothing', () => {
    const [mine, other] = [hex(ours.content?.contents), hex(theirs.content?.contents)];
    const flags = { ours: '030100', theirs: other.includes('03020780') ? '03020780' : '030100' };
    expect(withoutLengths(mine, flags.ours)).toBe(withoutLengths(other, flags.theirs));
  });

  it('SpcSpOpusInfo differs in the type of the name alone: signtool writes BMPString, osslsigncode ASCII', () => {
    const [mine = ''] = ofAttribute(ours.bytes, SPC_SP_OPUS_INFO);
    const [other = ''] = ofAttribute(theirs.bytes, SPC_SP_OPUS_INFO);
    expect(other).toContain(`a0088106${Buffer.from('A name').toString('hex')}`);
    expect(mine).toContain(`a00e800c${Buffer.from('A name', 'utf16le').swap16().toString('hex')}`);
    expect(mine.slice(-40)).toBe(other.slice(-40));
  });

  it('signingTime is only in theirs: it would make each signature different, and Authenticode does not use it', () => {
    const types = (data: typeof ours) => data.signers[0].signedAttributes.map(({ type }) => type).sort();
    expect(types(theirs).filter((type) => !types(ours).includes(type))).toEqual(['1.2.840.113549.1.9.5']);
    expect(types(ours).filter((type) => !types(theirs).includes(type))).toEqual([]);
  });

  it('only theirs has the root: a verifier needs its own copy anyway', () => {
    const extra = theirs.certificates.map(hex).filter((one) => !ours.certificates.map(hex).includes(one));
    expect(extra).toEqual([hex(pki.root.der)]);
  });
});

/** `openssl smime -verify`, which reads PKCS#7, on the chain up to our root, with the digested content given apart. */
function opensslVerifies(made: Uint8Array): boolean {
  const content = parseSignedData(made).content?.contents ?? new Uint8Array();
  const args = [
    'smime',
    '-verify',
    '-binary',
    '-inform',
    'DER',
    '-in',
    'cms',
    '-content',
    'content',
    '-CAfile',
    'root',
  ];
  try {
    openssl([...args, '-certfile', 'chain', '-purpose', 'any', '-out', 'out'], {
      cms: made,
      content,
      root: pki.root.pem,
      chain: pki.intermediate.pem,
    });
    return true;
  } catch (error) {
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error);
    if (/digest failure|bad signature|verification failure/i.test(said)) return false;
    throw error;
  }
}

/** The part after the flags, and the flags' presence; the lengths before them differ with the flags' own. */
function withoutLengths(indirectData: string, flags: string): string {
  const at = indirectData.indexOf(flags);
  expect(at).toBeGreaterThan(0);
  return indirectData.slice(at + flags.length);
}
