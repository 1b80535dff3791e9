/** Cabinets, catalogs, connection files, installer files, NuGet packages, PDF documents and scripts, changed by chance: unsigned ones and signed ones. */

import { memorySource } from '../../../src/bytes/byte-source.ts';
import { type Piece, readPieces } from '../../../src/bytes/pieces.ts';
import type { CompoundStorage } from '../../../src/compound-file/format.ts';
import { readCompoundFile } from '../../../src/compound-file/read.ts';
import type { Format } from '../../../src/format/format.ts';
import { appx } from '../../../src/formats/appx/index.ts';
import { PARTS } from '../../../src/formats/appx/part-names.ts';
import { cab } from '../../../src/formats/cab/index.ts';
import { cat } from '../../../src/formats/cat/index.ts';
import { readCatalog } from '../../../src/formats/cat/list.ts';
import { msi } from '../../../src/formats/msi/index.ts';
import { navx } from '../../../src/formats/navx/index.ts';
import { nuget } from '../../../src/formats/nuget/index.ts';
import { SIGNATURE_NAME } from '../../../src/formats/nuget/package.ts';
import { pdf } from '../../../src/formats/pdf/index.ts';
import { rdp } from '../../../src/formats/rdp/index.ts';
import { powershell, wsh } from '../../../src/formats/script/index.ts';
import { readArchive } from '../../../src/zip/archive.ts';
import { GOOD_PACKAGES, MALFORMED_PACKAGES, UNSIGNED_BUNDLE } from '../../unit/formats/appx/samples.ts';
import { GOOD_CABINETS, MALFORMED_CABINETS } from '../../unit/formats/cab/samples.ts';
import { GOOD_CATALOGS, MALFORMED_CATALOGS } from '../../unit/formats/cat/samples.ts';
import { GOOD_INSTALLERS, MALFORMED_INSTALLERS } from '../../unit/formats/msi/samples.ts';
import { GOOD_EXTENSIONS, MALFORMED_EXTENSIONS } from '../../unit/formats/navx/samples.ts';
import { GOOD_NUGET, MALFORMED_NUGET } from '../../unit/formats/nuget/samples.ts';
import { GOOD_DOCUMENTS, MALFORMED_DOCUMENTS } from '../../unit/formats/pdf/samples.ts';
import { GOOD_CONNECTIONS, MALFORMED_CONNECTIONS } from '../../unit/formats/rdp/samples.ts';
import { GOOD_POWERSHELL, GOOD_WSH, MALFORMED_POWERSHELL, MALFORMED_WSH } from '../../unit/formats/script/samples.ts';
import type { Fixture } from '../../unit/formats/support/fixtures.ts';
import { signBytes } from '../../unit/formats/support/sign-bytes.ts';
import { require } from '../check-case.ts';
import { mutateArchive } from '../mutations/archive.ts';
import { mutateBytes } from '../mutations/bytes.ts';
import { once, pick, type Random } from '../mutations/random.ts';
import type { TargetDefinition } from '../target.ts';
import { prepareWalk, type Walk, walkFile } from './walk.ts';

/** Larger ones take too long for many cases. In bytes. */
const LARGEST = 64 * 1024;

interface FileTargetOptions extends Pick<Walk, 'rejectedByCheck' | 'options'> {
  readonly mutate?: (bytes: Buffer, random: Random) => Buffer;
}

function fileTarget(
  what: string,
  format: Format,
  fixtures: readonly (readonly Fixture[])[],
  requireUntouched: Walk['requireUntouched'],
  { mutate = mutateBytes, rejectedByCheck, options }: FileTargetOptions = {},
): TargetDefinition {
  return {
    what: `${what}: opened, examined, signed, checked, stamped and cleaned`,
    share: 2000,
    async open({ bases }) {
      // osslsigncode rejects much of what is odd and correct here; other long tests compare with it.
      const rest = { format, requireUntouched, rejectedByCheck, options, sample: () => undefined };
      const walk = await prepareWalk({ bases }, 'fuzz/base-stamped.exe', rest);
      const [good = [], malformed = []] = fixtures;
      const signed = await Promise.all(
        good.map(async ({ bytes }) => (await signBytes(format, bytes, walk.signer)).result),
      );
      const files = [...good, ...malformed].map(({ bytes }) => bytes).filter(({ length }) => length <= LARGEST);
      const all = [...files, ...signed];
      return {
        make: (random) => {
          const bytes = mutate(pick(random, all), random);
          return once(random, 3) ? mutate(bytes, random) : bytes;
        },
        run: (input) => walkFile(walk, input),
      };
    },
  };
}

/** Everything from the file table up to the end of the cabinet. */
async function requireSameFiles(before: Uint8Array, after: Uint8Array): Promise<void> {
  const [one, other] = [before, after].map((file) => {
    const bytes = Buffer.from(file);
    return bytes.subarray(bytes.readUInt32LE(16), bytes.readUInt32LE(8));
  });
  require(one !== undefined && other !== undefined && one.equals(other), 'the content of the cabinet was changed');
}

async function requireSameList(before: Uint8Array, after: Uint8Array): Promise<void> {
  const [one, other] = [before, after].map((file) => readCatalog(file).encapsulated.bytes);
  require(one !== undefined && other !== undefined && Buffer.compare(one, other) === 0, 'the list was changed');
}

/** Every stream but those of a signature, by its path. */
async function requireSameStreams(before: Uint8Array, after: Uint8Array): Promise<void> {
  const [one, other] = [await streamsOf(before), await streamsOf(after)];
  require(one === other, 'the streams were changed');
}

async function streamsOf(bytes: Uint8Array): Promise<string> {
  const source = memorySource(bytes);
  const found: string[] = [];
  const visit = async ({ children }: CompoundStorage, folder: string): Promise<void> => {
    for (const child of children) {
      const path = `${folder}/${Buffer.from(child.name).toString('hex')}`;
      if (child.kind === 'storage') await visit(child, path);
      else found.push(`${path} ${await contentOf(source, child.content)}`);
    }
  };
  await visit((await readCompoundFile(source)).root, '');
  const signature = ['\x05DigitalSignature', '\x05MsiDigitalSignatureEx'].map(
    (name) => `/${Buffer.from(name, 'utf16le').toString('hex')} `,
  );
  return found
    .filter((line) => !signature.some((start) => line.startsWith(start)))
    .sort()
    .join('\n');
}

async function contentOf(source: Parameters<typeof readPieces>[0], content: Iterable<Piece>): Promise<string> {
  let text = '';
  for await (const chunk of readPieces(source, content)) text += Buffer.from(chunk).toString('hex');
  return text;
}

/** What a script begins with: everything up to the block, which is at the end of all of these. */
async function requireSameText(before: Uint8Array, after: Uint8Array): Promise<void> {
  const [one, other] = [before, after].map(
    (bytes) => Buffer.from(bytes).toString('latin1').replaceAll('\0', '').split('SIG')[0] ?? '',
  );
  const shorter = Math.min(one?.length ?? 0, other?.length ?? 0) - 16;
  require(shorter < 0 || one?.slice(0, shorter) === other?.slice(0, shorter), 'the text of the script was changed');
}

/** Every line but those that a signature brings; the last one may get a line end. */
async function requireSameSettings(before: Uint8Array, after: Uint8Array): Promise<void> {
  const [one, other] = [before, after].map((bytes) =>
    Buffer.from(bytes)
      .toString(bytes[0] === 0xff ? 'utf16le' : 'latin1')
      .split(/\r?\n/)
      .filter((line) => line !== '' && !/^(?:alternate full address|signscope|signature):/i.test(line))
      .join('\n'),
  );
  require(one === other, 'the settings were changed');
}

/** The records of all entries but those that may change. */
function requireSameEntries(...changing: readonly string[]): Walk['requireUntouched'] {
  const recordsOf = async (file: Uint8Array) => {
    const { inFile } = await readArchive(memorySource(file));
    const staying = inFile.filter(({ name }) => !changing.includes(name));
    return Buffer.concat(staying.map(({ offset, end }) => file.subarray(offset, end)));
  };
  return async (before, after) => {
    const [one, other] = [await recordsOf(before), await recordsOf(after)];
    require(one.equals(other), 'the entries of the package were changed');
  };
}

export const appxTarget = fileTarget(
  'packages',
  appx,
  [GOOD_PACKAGES, [...MALFORMED_PACKAGES, UNSIGNED_BUNDLE]],
  requireSameEntries(PARTS.contentTypes, PARTS.signature),
  {
    mutate: (bytes, random) => (once(random, 2) ? mutateBytes(bytes, random) : mutateArchive(bytes, random, bytes)),
    // The publisher, and the packages in a bundle.
    rejectedByCheck: /^(appx|zip)-/,
    options: { innerPackages: true },
  },
);
export const cabTarget = fileTarget('cabinets', cab, [GOOD_CABINETS, MALFORMED_CABINETS], requireSameFiles);
export const catTarget = fileTarget('catalogs', cat, [GOOD_CATALOGS, MALFORMED_CATALOGS], requireSameList);
export const msiTarget = fileTarget(
  'installer files',
  msi,
  [GOOD_INSTALLERS, MALFORMED_INSTALLERS],
  requireSameStreams,
);
/** Everything up to the block. */
async function requireSamePackage(before: Uint8Array, after: Uint8Array): Promise<void> {
  const [one, other] = [before, after].map((file) => {
    const bytes = Buffer.from(file);
    return bytes.subarray(0, 40 + Number(bytes.readBigUInt64LE(28)));
  });
  require(one !== undefined && other !== undefined && one.equals(other), 'the package was changed');
}

export const navxTarget = fileTarget(
  'extensions of Business Central',
  navx,
  [GOOD_EXTENSIONS, MALFORMED_EXTENSIONS],
  requireSamePackage,
);
export const rdpTarget = fileTarget(
  'connection files',
  rdp,
  [GOOD_CONNECTIONS, MALFORMED_CONNECTIONS],
  requireSameSettings,
);
export const powershellTarget = fileTarget(
  'PowerShell files',
  powershell,
  [GOOD_POWERSHELL, MALFORMED_POWERSHELL],
  requireSameText,
);
export const wshTarget = fileTarget('scripts', wsh, [GOOD_WSH, MALFORMED_WSH], requireSameText);

export const nugetTarget = fileTarget(
  'NuGet packages',
  nuget,
  [GOOD_NUGET, MALFORMED_NUGET],
  requireSameEntries(SIGNATURE_NAME),
);

/** A document only grows, and an update that is taken off leaves it as it was. */
async function requireSameStart(before: Uint8Array, after: Uint8Array): Promise<void> {
  const length = Math.min(before.length, after.length);
  require(Buffer.compare(before.subarray(0, length), after.subarray(0, length)) === 0, 'the document was changed');
}

export const pdfTarget = fileTarget('documents', pdf, [GOOD_DOCUMENTS, MALFORMED_DOCUMENTS], requireSameStart);
