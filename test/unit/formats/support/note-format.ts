/**
 * A format for tests alone: notes. It uses what no other format does: bytes in its content and ranges out of order, ranges in
 * its patch, a signed time, a timestamp at a place of its own, an option of its own, and a space for its CMS that is fixed
 * before anything is signed. A signed note ends with a detached CMS, zeros up to the end of its space, the length of that, and
 * `SIGN`.
 */

import { verify, X509Certificate } from 'node:crypto';
import { digestAlgorithmOf } from '../../../../src/asn1/algorithm-identifiers.ts';
import { DATA, MESSAGE_DIGEST, SIGNING_TIME } from '../../../../src/asn1/object-identifiers.ts';
import { encode, octetString } from '../../../../src/asn1/write.ts';
import type { ByteSource } from '../../../../src/bytes/byte-source.ts';
import type { Patch } from '../../../../src/bytes/patch.ts';
import {
  attributeValues,
  parseSignedData,
  type SignedData,
  type SignerInfo,
} from '../../../../src/cms/parse-signed-data.ts';
import { type DigestAlgorithm, NODE_DIGEST_NAME } from '../../../../src/crypto/algorithms.ts';
import type { Content } from '../../../../src/crypto/content.ts';
import { CodesignError } from '../../../../src/errors/codesign-error.ts';
import { defineErrors } from '../../../../src/errors/define-errors.ts';
import type { Finding } from '../../../../src/errors/finding.ts';
import { formatErrors } from '../../../../src/formats/errors.ts';
import {
  type ContentReader,
  cmsEnvelope,
  type EmbeddedSignature,
  type Embedding,
  type Format,
  type PreparedSignature,
  type SignableFile,
  type SignatureProfile,
  type SigningContext,
  type SigningMode,
} from '../../../../src/formats/format.ts';
import { type FormatOption, SOME_TEXT, textOf } from '../../../../src/formats/format-options.ts';
import { prepareCms, stampCms, timestampsOf } from '../../../../src/formats/signature-profile.ts';
import { timestampReader } from '../../../../src/timestamp/read-timestamps.ts';

export const NOTE_LABEL = {
  key: 'noteLabel',
  flag: '--note-label',
  placeholder: 'text',
  help: 'label of the note',
  stored: 'both',
  value: SOME_TEXT,
} as const satisfies FormatOption;
const LABEL = '1.3.6.1.4.1.55555.1';
const TOKEN = '1.3.6.1.4.1.55555.2';
const SPACE = '1.3.6.1.4.1.55555.3';
const MAGIC = 'NOTE';
const TRAILER_LENGTH = 8;

const noteErrors = defineErrors('local', {
  'note-truncated': { message: 'the note is truncated', hint: 'Write it again.' },
  'note-space-too-small': { message: 'the signature does not fit', hint: 'Sign it again.' },
});

/** For everything but certificates and the token that was announced, in bytes; a later timestamp has to fit too. */
export const NOTE_SLACK = 8 * 1024;

const NOTE_PROFILE: SignatureProfile = {
  signedAttributes({ chain, time, tokenReserve = 0, formatOptions }) {
    const label = textOf(formatOptions, NOTE_LABEL);
    const space = chain.certificates.reduce((sum, { der }) => sum + der.length, NOTE_SLACK + tokenReserve);
    return [
      { type: SIGNING_TIME, value: encode(0x18, Buffer.from(`${time.toISOString().replace(/[-:T]|\..*/g, '')}Z`)) },
      { type: SPACE, value: octetString(Buffer.from(String(space))) },
      ...(label === undefined ? [] : [{ type: LABEL, value: octetString(Buffer.from(label)) }]),
    ];
  },
  carriesRoot: true,
  timestampTypes: [TOKEN],
  verifier: 'The reader of notes',
};

/** What a signature says of its space; 0 for one that says nothing. */
function spaceOf(cms: Uint8Array): number {
  const [value] = attributeValues(parseSignedData(cms).signers[0].signedAttributes, SPACE);
  return Number(Buffer.from(value?.contents ?? []).toString());
}

export const note: Format = {
  id: 'note',
  title: 'Note',
  extensions: ['.note'],
  options: [NOTE_LABEL],
  modes: ['replace'],
  defaultMode: 'replace',
  purpose: 'code-signing',
  signsTime: true,
  recognition: { by: 'bytes', claims: (head) => Buffer.from(head.subarray(0, 4)).toString('latin1') === MAGIC },
  refuses: (name) => (name.endsWith('.draft.note') ? 'a draft of a note' : undefined),
  async open(source, reader) {
    return signableNote(source, await readLayout(source), reader);
  },
};

interface NoteLayout {
  readonly bodyEnd: number;
  readonly fileSize: number;
  readonly cms: Uint8Array | undefined;
}

async function readLayout(source: ByteSource): Promise<NoteLayout> {
  const { size } = source;
  if (size < MAGIC.length + TRAILER_LENGTH) throw noteErrors('note-truncated');
  const trailer = Buffer.from(await source.read(size - TRAILER_LENGTH, TRAILER_LENGTH));
  if (trailer.toString('latin1', 4) !== 'SIGN') return { bodyEnd: size, fileSize: size, cms: undefined };
  const bodyEnd = size - TRAILER_LENGTH - trailer.readUInt32LE(0);
  if (bodyEnd < MAGIC.length) throw noteErrors('note-truncated');
  const cms = Uint8Array.from(await source.read(bodyEnd, size - TRAILER_LENGTH - bodyEnd));
  return { bodyEnd, fileSize: size, cms };
}

/** The second half comes first. */
function contentOf({ bodyEnd }: NoteLayout): Content {
  const middle = Math.floor(bodyEnd / 2);
  return [Buffer.from('a note:'), { start: middle, end: bodyEnd }, { start: 0, end: middle }];
}

function signableNote(source: ByteSource, layout: NoteLayout, reader: ContentReader): SignableFile {
  const digestBy = async (algorithm: DigestAlgorithm): Promise<Uint8Array> => {
    const { digests } = await reader.measure(source, contentOf(layout), [algorithm]);
    return digests.get(algorithm) ?? new Uint8Array();
  };
  const examine = (cms: Uint8Array) => examineCms(cms, digestBy);
  return {
    profile: NOTE_PROFILE,
    warnings: [],
    reopen: (other, otherReader) => signableNote(other, layout, otherReader),
    signatures: async () => (layout.cms === undefined ? [] : [signatureOf(layout.cms, reader, examine)]),
    async check(_context, mode) {
      requireReplace(mode);
    },
    async prepare(context, mode) {
      requireReplace(mode);
      return prepareNote(layout, context, await digestBy(context.algorithm));
    },
    async verifyResult({ sealed }) {
      const there = layout.cms && tryParse(layout.cms);
      const isThere = there && !(there instanceof CodesignError) && Buffer.compare(there.bytes, sealed.bytes) === 0;
      if (!isThere || (await examine(sealed.bytes)).length > 0) {
        throw formatErrors('result-damaged', { reason: 'the note does not hold its signature' });
      }
    },
    examine: async () => [],
    layout: () => [{ name: 'note', value: `${layout.bodyEnd} bytes` }],
    async remove() {
      if (layout.cms === undefined) throw formatErrors('not-signed', {});
      return [{ offset: layout.bodyEnd, remove: layout.fileSize - layout.bodyEnd, insert: [] }];
    },
    async stamp(tokens) {
      let cms = layout.cms ?? new Uint8Array();
      for (const token of tokens.values()) cms = stampCms(NOTE_PROFILE, cms, token);
      return put(layout, cms);
    },
    async attach({ bytes }) {
      return put(layout, parseSignedData(bytes).bytes);
    },
  };
}

function requireReplace(mode: SigningMode): void {
  if (mode === 'append') throw formatErrors('cannot-append', { reason: 'a note holds one signature' });
}

function prepareNote(layout: NoteLayout, context: SigningContext, messageDigest: Uint8Array): PreparedSignature {
  return {
    ...prepareCms(NOTE_PROFILE, context, { type: DATA, messageDigest }),
    embed: ({ bytes }) => put(layout, bytes),
  };
}

/** All of the file is described again, its body as a range of the original. */
function put({ bodyEnd, fileSize }: NoteLayout, cms: Uint8Array): Embedding {
  const space = spaceOf(cms);
  if (cms.length > space) throw noteErrors('note-space-too-small');
  const trailer = Buffer.from('\0\0\0\0SIGN', 'latin1');
  trailer.writeUInt32LE(space);
  const padding = Buffer.alloc(space - cms.length);
  const patch: Patch = [{ offset: 0, remove: fileSize, insert: [{ start: 0, end: bodyEnd }, cms, padding, trailer] }];
  return { patch, sealed: cmsEnvelope(cms), standing: [cmsEnvelope(cms)] };
}

function tryParse(cms: Uint8Array): SignedData | CodesignError {
  try {
    return parseSignedData(cms);
  } catch (thrown) {
    if (thrown instanceof CodesignError) return thrown;
    throw thrown;
  }
}

async function examineCms(
  cms: Uint8Array,
  digestBy: (algorithm: DigestAlgorithm) => Promise<Uint8Array>,
): Promise<readonly Finding[]> {
  const parsed = tryParse(cms);
  if (parsed instanceof CodesignError) {
    return [{ code: parsed.code, message: `${parsed.message}.`, weight: 'broken' }];
  }
  const [signer] = parsed.signers;
  const algorithm = digestAlgorithmOf(signer.digestAlgorithm);
  const claimed = attributeValues(signer.signedAttributes, MESSAGE_DIGEST)[0]?.contents;
  const expected = algorithm && (await digestBy(algorithm));
  if (expected === undefined || claimed === undefined || Buffer.compare(expected, claimed) !== 0) {
    return [{ code: 'content-digest-differs', message: 'The note was changed.', weight: 'broken' }];
  }
  return isSignedBy(signer) ? [] : [{ code: 'signature-value-wrong', message: 'It is wrong.', weight: 'broken' }];
}

function isSignedBy({ certificate, signedBytes, signature, digestAlgorithm }: SignerInfo): boolean {
  const algorithm = digestAlgorithmOf(digestAlgorithm);
  if (certificate === undefined || signedBytes === undefined || algorithm === undefined) return false;
  try {
    return verify(NODE_DIGEST_NAME[algorithm], signedBytes, new X509Certificate(certificate).publicKey, signature);
  } catch {
    return false; // the certificate cannot be read
  }
}

function signatureOf(
  cms: Uint8Array,
  { budget }: ContentReader,
  examine: (cms: Uint8Array) => Promise<readonly Finding[]>,
): EmbeddedSignature {
  const parsed = tryParse(cms);
  const signedData = parsed instanceof CodesignError ? undefined : parsed;
  const signer = signedData?.signers[0];
  const read = timestampReader(budget);
  return {
    location: 'end of the note',
    envelope: cmsEnvelope(signedData?.bytes ?? cms),
    signedData,
    signerCertificate: signer?.certificate,
    signerName: signer === undefined ? '(unreadable)' : signer.name,
    algorithm: signer && digestAlgorithmOf(signer.digestAlgorithm),
    nested: [],
    get timestamps() {
      if (signedData === undefined || signer === undefined) return [];
      return timestampsOf(NOTE_PROFILE, signedData, signer, read);
    },
    details: async () => [{ name: 'length', value: `${cms.length} bytes` }],
    examine: () => examine(cms),
  };
}

/** An unsigned note. */
export function noteOf(text: string): Buffer {
  return Buffer.from(`${MAGIC}\n${text.padEnd(16)}\n`);
}
