import { createHash } from 'node:crypto';
import { COUNTER_SIGNATURE, DATA, TIMESTAMP_TYPES } from '../../asn1/object-identifiers.ts';
import { octetString } from '../../asn1/write.ts';
import { type ByteSource, isSameBytes } from '../../bytes/byte-source.ts';
import { parseSignedData } from '../../cms/parse-signed-data.ts';
import { replaceUnsignedAttributes } from '../../cms/unsigned-attributes.ts';
import { type DigestAlgorithm, NODE_DIGEST_NAME } from '../../crypto/algorithms.ts';
import { CodesignError } from '../../errors/codesign-error.ts';
import { broken, warning } from '../../errors/finding.ts';
import { plural } from '../../errors/plural.ts';
import { prepareCms } from '../../format/cms.ts';
import { damagedResult, formatErrors } from '../../format/errors.ts';
import {
  type ContentReader,
  type Embedding,
  type Expected,
  PLAIN_PREVIEW,
  type Prepared,
  type SignableFile,
  type SigningContext,
  type SigningMode,
} from '../../format/signable-file.ts';
import { cmsEnvelope, type Detail } from '../../format/signature.ts';
import { readTimestampToken } from '../../timestamp/read-token.ts';
import { usesSha1 } from '../../timestamp/timestamp.ts';
import { editArchive, editLastEntry } from '../../zip/edit-archive.ts';
import { rejectFutureRival } from '../../zip/end-record.ts';
import { storedEntry } from '../../zip/write-records.ts';
import { zipContents } from '../zip-contents.ts';
import { nugetErrors, nugetWarnings } from './errors.ts';
import { contentOf, entryError, type NugetPackage, readPackage, SIGNATURE_NAME } from './package.ts';
import { type DigestBy, embeddedSignature, readCms } from './signatures.ts';
import { NUGET_PROFILE, readSignedText, signedText } from './signed-content.ts';
import { certificateProblem, countersignersOf, roleOf } from './signers.ts';

/** The signature adds an entry, and a count of 65,535 entries would refer to a ZIP64 record. */
const MOST_ENTRIES = 65_533;
/** Leaves room for the signature, which moves the ZIP directory: the directory's offset must still fit in 32 bits. */
const ROOM = 1024 * 1024;
const MAXIMUM_SIZE = 0xffff_ffff;
const MOST_LISTED = 3;

export async function openNuget(source: ByteSource, reader: ContentReader): Promise<SignableFile> {
  const opened = await readPackage(source);
  const { signature, archive } = opened;
  const lookalikes = opened.lookalikes.slice(0, MOST_LISTED);
  const digests = new Map<DigestAlgorithm, Promise<Uint8Array>>();
  const digestBy: DigestBy = (algorithm) => {
    const digest = digests.get(algorithm) ?? digestOf(opened, source, reader, algorithm);
    digests.set(algorithm, digest);
    return digest;
  };
  const signatures = async () => (signature ? [embeddedSignature(signature.cms, digestBy, reader.budget)] : []);
  return {
    signatures,
    examine: async () => [
      ...(signature?.problems ?? []).map((problem) =>
        broken('signature-entry-odd', `NuGet does not accept the entry ${SIGNATURE_NAME}: ${problem}.`),
      ),
      ...lookalikes.map((name) => warning('signature-name-unrecognised', lookalikeFinding(name))),
    ],
    layout: () => describe(opened),
    signing: {
      fixedAlgorithm: undefined,
      unusedOptions: [],
      async check(context, mode) {
        await check(opened, source, context, mode);
        return { ...PLAIN_PREVIEW, warnings: lookalikes.map(lookalikeFinding), mustBeNamed: foreignSignature(opened) };
      },
      async prepare(context, mode) {
        await check(opened, source, context, mode);
        return prepare(opened, context, await digestBy(context.algorithm));
      },
      verify: (expected) => verify(opened, expected, digestBy),
    },
    removing: {
      signatures,
      async patch() {
        if (signature === undefined) throw formatErrors('not-signed');
        return editArchive(archive, { remove: new Set([signature.entry]), first: [] });
      },
    },
    stamping: { of: 'each-signature', stamp: async (tokens) => stamp(opened, tokens.get(SIGNATURE_NAME)) },
    attaching: {
      async place({ bytes }) {
        checkRegularEntry(opened);
        const cms = parseSignedData(bytes).bytes;
        const isThere =
          signature !== undefined && !(signature.cms instanceof CodesignError) && isSameBytes(signature.cms, cms);
        const foreign = isThere ? undefined : foreignSignature(opened);
        if (foreign !== undefined) throw formatErrors('signatures-kept', { what: foreign });
        return embed(opened, cms);
      },
    },
    contents: zipContents(source, archive),
    listing: undefined,
    catalog: undefined,
  };
}

async function digestOf(
  opened: NugetPackage,
  source: ByteSource,
  { measure }: ContentReader,
  algorithm: DigestAlgorithm,
): Promise<Uint8Array> {
  const digest = (await measure(source, contentOf(opened, source), [algorithm])).digests.get(algorithm);
  if (digest === undefined) throw new TypeError(`the content was not digested by ${algorithm}`);
  return digest;
}

function lookalikeFinding(name: string): string {
  return nugetWarnings('signature-lookalike', { name, required: SIGNATURE_NAME });
}

/** Returns a noun phrase for a repository's signature or countersignature that a new signature would remove. */
function foreignSignature({ signature }: NugetPackage): string | undefined {
  const signedData = signature && readCms(signature.cms);
  if (signedData === undefined || signedData instanceof CodesignError) return undefined;
  const [signer] = signedData.signers;
  if (roleOf(signer) === 'repository') return `the repository signature of "${signer.name}"`;
  const [counter] = countersignersOf(signedData);
  if (counter === undefined) return undefined;
  return counter instanceof CodesignError
    ? 'a countersignature that cannot be read'
    : `the countersignature of "${counter.name}"`;
}

async function check(
  opened: NugetPackage,
  source: ByteSource,
  context: SigningContext,
  mode: SigningMode,
): Promise<void> {
  const { algorithm, timestampAlgorithm, chain } = context;
  if (mode === 'append') throw formatErrors('cannot-append', { reason: 'a NuGet package can have only one signature' });
  if (algorithm === 'SHA1') throw nugetErrors('nuget-algorithm', { what: 'signature', algorithm });
  if (timestampAlgorithm === 'SHA1') {
    throw nugetErrors('nuget-algorithm', { what: 'timestamp', algorithm: timestampAlgorithm });
  }
  const problem = certificateProblem(chain.leaf.der);
  if (problem !== undefined) throw nugetErrors('nuget-certificate', { name: chain.leaf.name, problem });
  checkRegularEntry(opened);
  const { entryCount, length, records } = opened.body;
  if (entryCount > MOST_ENTRIES) {
    throw nugetErrors('nuget-zip64', { reason: `it has ${plural(entryCount, 'entry', 'entries')}` });
  }
  if (length + records.length + ROOM > MAXIMUM_SIZE) {
    throw nugetErrors('nuget-zip64', { reason: `it would be longer than 4 GiB (${length} bytes without a signature)` });
  }
  await rejectFutureRival(source, opened.archive.end);
}

function checkRegularEntry({ signature, lookalikes }: NugetPackage): void {
  const [problem] = signature?.problems ?? [];
  if (problem !== undefined) throw entryError(problem);
  if (lookalikes.includes(SIGNATURE_NAME)) throw entryError('it has the UTF-8 flag');
}

function prepare(opened: NugetPackage, context: SigningContext, digest: Uint8Array): Prepared {
  const text = signedText(context.algorithm, digest);
  const messageDigest = createHash(NODE_DIGEST_NAME[context.algorithm]).update(text).digest();
  return {
    units: [prepareCms(NUGET_PROFILE, context, { type: DATA, value: octetString(text), messageDigest })],
    embed: ([{ bytes }]) => embed(opened, bytes),
  };
}

function embed({ body }: NugetPackage, cms: Uint8Array): Embedding {
  const added = [cmsEnvelope(cms)] as const;
  return { patch: editLastEntry(body, storedEntry(SIGNATURE_NAME, cms)), added, envelopes: added };
}

/** Countersignatures stay valid, because a countersignature covers only the signature value. */
function stamp(opened: NugetPackage, token: Uint8Array | undefined): Embedding {
  const cms = opened.signature?.cms;
  if (!(cms instanceof Uint8Array)) throw new TypeError('the signature is not one of this file');
  checkRegularEntry(opened);
  if (token === undefined) return embed(opened, cms);
  const value = parseSignedData(cms).signers[0].signature;
  if (usesSha1(readTimestampToken(token, value))) {
    throw nugetErrors('nuget-algorithm', { what: 'timestamp', algorithm: 'SHA1' });
  }
  const [type] = NUGET_PROFILE.timestampTypes;
  const instead = TIMESTAMP_TYPES.filter((each) => each !== COUNTER_SIGNATURE);
  return embed(opened, replaceUnsignedAttributes(cms, { type, value: token }, instead));
}

async function verify({ signature }: NugetPackage, { added: [added] }: Expected, digestBy: DigestBy): Promise<void> {
  const cms = signature?.cms;
  if (!(cms instanceof Uint8Array) || !isSameBytes(cms, added.bytes))
    throw damagedResult('its signature differs from the new one');
  const [problem] = signature?.problems ?? [];
  if (problem !== undefined) throw damagedResult(`NuGet does not accept its entry ${SIGNATURE_NAME}: ${problem}`);
  const text = readSignedText(parseSignedData(cms));
  if (text?.algorithm === undefined || !isSameBytes(await digestBy(text.algorithm), text.digest)) {
    throw damagedResult('its digest differs from the signed one');
  }
}

function describe({ archive, body, signature }: NugetPackage): readonly Detail[] {
  const { directoryOffset, directorySize } = archive.end;
  return [
    { name: 'entries', value: `${plural(body.entryCount, 'entry', 'entries')} without the signature` },
    { name: 'directory', value: `at byte ${directoryOffset}, ${plural(directorySize, 'byte')}` },
    {
      name: 'signature',
      value:
        signature === undefined
          ? 'none'
          : `${SIGNATURE_NAME} at byte ${signature.entry.offset}, ${plural(signature.entry.size, 'byte')}`,
    },
  ];
}
