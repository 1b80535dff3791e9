/**
 * A format that the program does not have: XML envelopes, and two independent units of which one is timestamped. A file
 * is "TOY " and text, and after a line of its own the signatures.
 */

import { createHash } from 'node:crypto';
import type { ByteSource } from '../../../../src/bytes/byte-source.ts';
import { formatErrors } from '../../../../src/format/errors.ts';
import type { Format } from '../../../../src/format/format.ts';
import {
  type Embedding,
  type Envelopes,
  PLAIN_PREVIEW,
  type SignableFile,
  type SigningUnit,
} from '../../../../src/format/signable-file.ts';
import type { FoundSignature } from '../../../../src/format/signature.ts';

const MARK = '\n== signatures ==\n';
const ELEMENT =
  /<Signature name="([^"]+)" digest="([^"]+)"><Value>([^<]+)<\/Value>(?:<Token>([^<]+)<\/Token>)?<\/Signature>/g;

export function readToy(bytes: Uint8Array) {
  const [text = '', after = ''] = Buffer.from(bytes).toString('latin1').split(MARK);
  const decoded = (base64: string) => Buffer.from(base64, 'base64');
  const signatures = [...after.matchAll(ELEMENT)].map(([xml, name = '', digest = '', value = '', token]) => ({
    ...{ name, xml, digest: decoded(digest), value: decoded(value) },
    token: token === undefined ? undefined : decoded(token),
  }));
  return { text, signatures };
}

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
const digestOf = (name: string, text: string) => createHash('sha256').update(`${name}:${text}`).digest();

function unit(name: string, text: string, timestamp: SigningUnit['timestamp']): SigningUnit {
  const digest = digestOf(name, text);
  return {
    ...{ name, algorithm: 'SHA256', digest, timestamp },
    seal(value, token) {
      const stamp = token === undefined ? '' : `<Token>${base64(token)}</Token>`;
      const start = `<Signature name="${name}" digest="${base64(digest)}">`;
      return { kind: 'xml', bytes: Buffer.from(`${start}<Value>${base64(value)}</Value>${stamp}</Signature>`) };
    },
  };
}

async function openToy(source: ByteSource): Promise<SignableFile> {
  const { text, signatures } = readToy(await source.read(0, source.size));
  const found = signatures.map(
    ({ name, xml, value }): FoundSignature => ({
      ...{ location: name, envelope: { kind: 'xml', bytes: Buffer.from(xml) }, value, signedBytes: Buffer.from(text) },
      ...{ signer: { name: 'Toy', certificate: undefined }, certificates: [] },
      ...{ algorithm: 'SHA256', contained: [], timestamps: [] },
      details: async () => [],
      examine: async () => [],
    }),
  );
  const embed = (added: Envelopes): Embedding => {
    const insert = [Buffer.from(MARK), ...added.map(({ bytes }) => bytes)];
    return { patch: [{ offset: text.length, remove: source.size - text.length, insert }], added, envelopes: added };
  };
  return {
    signatures: async () => found,
    signing: {
      ...{ fixedAlgorithm: undefined, unusedOptions: [] },
      check: async () => ({ ...PLAIN_PREVIEW, requests: 2 }),
      prepare: async () => ({
        units: [unit('license', text, 'on-signature'), unit('strong name', text, 'none')],
        embed,
      }),
      async verify({ envelopes }) {
        const isRight = signatures.every(({ name, digest }) => digest.equals(digestOf(name, text)));
        const expected = envelopes.map(({ bytes }) => Buffer.from(bytes).toString());
        if (!isRight || expected.join() !== signatures.map(({ xml }) => xml).join())
          throw formatErrors('result-damaged', { reason: 'its signatures are not those that were made' });
      },
    },
    examine: async () => [],
    layout: () => [],
    ...{ removing: undefined, stamping: undefined, attaching: undefined, contents: undefined },
    ...{ listing: undefined, catalog: undefined },
  };
}

export const toy: Format = {
  id: 'toy',
  title: 'Toy',
  extensions: ['.toy'],
  onlyIfNamed: [],
  purpose: 'code-signing',
  recognition: { by: 'bytes', claims: (head) => Buffer.from(head.subarray(0, 4)).toString('latin1') === 'TOY ' },
  signing: { options: [], modes: ['replace'], signsTime: false, keepsExtension: false },
  open: openToy,
  seemsSigned: async () => true,
};
