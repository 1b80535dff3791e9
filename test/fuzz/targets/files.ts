/** Files of every format, changed by chance: unsigned ones and signed ones. */

import { buffer } from 'node:stream/consumers';
import { memorySource } from '../../../src/bytes/byte-source.ts';
import { readPieces } from '../../../src/bytes/pieces.ts';
import type { CompoundStorage } from '../../../src/compound-file/format.ts';
import { readCompoundFile } from '../../../src/compound-file/read.ts';
import { appx } from '../../../src/formats/appx/index.ts';
import { PARTS } from '../../../src/formats/appx/part-names.ts';
import { cab } from '../../../src/formats/cab/index.ts';
import { cat } from '../../../src/formats/cat/index.ts';
import { readCatalog } from '../../../src/formats/cat/list.ts';
import { jar } from '../../../src/formats/jar/index.ts';
import { msi } from '../../../src/formats/msi/index.ts';
import { navx } from '../../../src/formats/navx/index.ts';
import { nuget } from '../../../src/formats/nuget/index.ts';
import { SIGNATURE_NAME } from '../../../src/formats/nuget/package.ts';
import { pdf } from '../../../src/formats/pdf/index.ts';
import { pe } from '../../../src/formats/pe/index.ts';
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
import { headerOffsets, slowContent } from '../../unit/formats/pe/slow-pe.ts';
import { GOOD_CONNECTIONS, MALFORMED_CONNECTIONS } from '../../unit/formats/rdp/samples.ts';
import { GOOD_POWERSHELL, GOOD_WSH, MALFORMED_POWERSHELL, MALFORMED_WSH } from '../../unit/formats/script/samples.ts';
import type { Fixture } from '../../unit/formats/support/fixtures.ts';
import { signBytes } from '../../unit/formats/support/sign-bytes.ts';
import type { Bases } from '../bases.ts';
import { require } from '../check-case.ts';
import { mutateArchive } from '../mutations/archive.ts';
import { mutateBytes } from '../mutations/bytes.ts';
import { mutatePe } from '../mutations/pe.ts';
import { once, pick, type Random } from '../mutations/random.ts';
import type { TargetDefinition } from '../target.ts';
import { prepareWalk, type Walk, walkFile } from './walk.ts';

/** Larger ones take too long for many cases. In bytes. */
const LARGEST = 64 * 1024;

interface FileTarget extends Pick<Walk, 'format' | 'requireUntouched' | 'rejectedByCheck' | 'options'> {
  readonly share?: number;
  readonly good?: readonly Fixture[];
  readonly malformed?: readonly Fixture[];
  /** Where more files are, signed ones among them. */
  readonly found?: Parameters<Bases['all']>;
  readonly mutate?: (bytes: Buffer, random: Random, other: Buffer) => Buffer;
  /**
   * Extension of the results that other programs check. In other formats, osslsigncode rejects many unusual files that are
   * correct, so other long tests compare with it.
   */
  readonly sampled?: string;
}

function fileTarget(target: FileTarget): TargetDefinition {
  const { share = 2000, good = [], malformed = [], found, sampled, ...rest } = target;
  const mutate = target.mutate ?? ((bytes, random) => mutateBytes(bytes, random));
  return {
    share,
    async open({ bases, makesCases, sample }) {
      const walk = await prepareWalk(bases, {
        ...rest,
        sample: (bytes) => (sampled === undefined ? undefined : sample(sampled, bytes)),
      });
      const signed = await Promise.all(
        (makesCases ? good : []).map(async ({ bytes }) => (await signBytes(rest.format, bytes, walk.signer)).result),
      );
      const files = [...good, ...malformed].map(({ bytes }) => bytes).filter(({ length }) => length <= LARGEST);
      const all = [...files, ...signed, ...(found === undefined ? [] : bases.all(...found))];
      return {
        make: (random) => {
          const bytes = mutate(pick(random, all), random, pick(random, all));
          return once(random, 3) ? mutate(bytes, random, pick(random, all)) : bytes;
        },
        run: (input) => walkFile(walk, input),
      };
    },
  };
}

/** Checks that this part of a file stays the same. */
function keeps(what: string, partOf: (file: Buffer) => Uint8Array | string | Promise<Uint8Array | string>) {
  return async (before: Uint8Array, after: Uint8Array): Promise<void> => {
    const [one, other] = [await partOf(Buffer.from(before)), await partOf(Buffer.from(after))];
    require(Buffer.from(one).equals(Buffer.from(other)), `${what} changed`);
  };
}

const OF_SIGNATURE = ['/\x05DigitalSignature', '/\x05MsiDigitalSignatureEx'];

/** Lists the path and content of every stream except those of a signature. */
async function streamsOf(bytes: Uint8Array): Promise<string> {
  const source = memorySource(bytes);
  const found: string[] = [];
  const visit = async ({ children }: CompoundStorage, folder: string): Promise<void> => {
    for (const child of children) {
      const path = `${folder}/${Buffer.from(child.name).toString('utf16le')}`;
      if (child.kind === 'storage') await visit(child, path);
      else if (!OF_SIGNATURE.includes(path)) {
        found.push(`${path} ${(await buffer(readPieces(source, child.content))).toString('hex')}`);
      }
    }
  };
  await visit((await readCompoundFile(source)).root, '');
  return found.sort().join('\n');
}

/** Compares the scripts up to the signature block, which is at the end of all of them. */
async function requireSameText(before: Uint8Array, after: Uint8Array): Promise<void> {
  const [one = '', other = ''] = [before, after].map(
    (bytes) => Buffer.from(bytes).toString('latin1').replaceAll('\0', '').split('SIG')[0],
  );
  const shorter = Math.max(0, Math.min(one.length, other.length) - 16);
  require(one.slice(0, shorter) === other.slice(0, shorter), 'the text of the script was changed');
}

/** Every line but those that a signature brings; the last one may get a line end. */
function settingsIn(bytes: Buffer): string {
  const lines = bytes.toString(bytes[0] === 0xff ? 'utf16le' : 'latin1').split(/\r?\n/);
  const isSignature = /^(?:alternate full address|signscope|signature):/i;
  return lines.filter((line) => line !== '' && !isSignature.test(line)).join('\n');
}

/** The records of all entries but those that may change; in the directory all but the offset, which may move. */
const entriesWithout = (changing: (name: string) => boolean) => async (file: Buffer) => {
  const { entries, directory } = await readArchive(memorySource(file));
  const staying = entries.filter(({ name }) => !changing(name)).sort((a, b) => (a.name < b.name ? -1 : 1));
  return Buffer.concat(
    staying.flatMap(({ offset, end, recordStart }) => [
      file.subarray(offset, end),
      directory.subarray(recordStart + 6, recordStart + 32),
    ]),
  );
};

/** All but CheckSum, the entry of the certificate table, and what is from that table on. */
async function requireSameProgram(before: Uint8Array, after: Uint8Array): Promise<void> {
  const programs = [Buffer.from(before), Buffer.from(after)];
  // Of an entry that leads nowhere nothing is to be held back.
  const tables = programs.map((bytes) => bytes.readUInt32LE(headerOffsets(bytes).entry) || bytes.length);
  const end = Math.min(...tables, before.length);
  const [one, other] = programs.map((bytes) => slowContent(bytes, end).toString('latin1'));
  require(one === other, 'the program was changed, not its signature alone');
}

/** A document only grows, and an update that is taken off leaves it as it was. */
async function requireSameStart(before: Uint8Array, after: Uint8Array): Promise<void> {
  const length = Math.min(before.length, after.length);
  require(Buffer.compare(before.subarray(0, length), after.subarray(0, length)) === 0, 'the document was changed');
}

const OF_JAR = /^META-INF\/(MANIFEST\.MF|[^/]*\.(SF|RSA|DSA|EC)|SIG-[^/]*)$/i;

export const FILE_TARGETS: Readonly<Record<string, TargetDefinition>> = {
  pe: fileTarget({
    ...{ format: pe, share: 6000, mutate: mutatePe, sampled: '.exe', requireUntouched: requireSameProgram },
    found: [
      ['pe', 'golden', 'pe-malformed', 'fuzz'],
      ['.exe', '.dll', '.sys', '.efi'],
      ['pe', 'pe-special'],
    ],
  }),
  jar: fileTarget({
    ...{ format: jar, share: 6000, mutate: mutateArchive, sampled: '.jar' },
    found: [
      ['jar', 'golden', 'jar-malformed', 'jar-damaged', 'fuzz'],
      ['.jar', '.war', '.aar'],
      ['jar', 'jar-special'],
    ],
    requireUntouched: keeps(
      'entries',
      entriesWithout((name) => OF_JAR.test(name)),
    ),
  }),
  cab: fileTarget({
    ...{ format: cab, good: GOOD_CABINETS, malformed: MALFORMED_CABINETS },
    // Everything from the file table up to the end of the cabinet.
    requireUntouched: keeps('files', (bytes) => bytes.subarray(bytes.readUInt32LE(16), bytes.readUInt32LE(8))),
  }),
  cat: fileTarget({
    ...{ format: cat, good: GOOD_CATALOGS, malformed: MALFORMED_CATALOGS },
    requireUntouched: keeps('the list', (bytes) => readCatalog(bytes).encapsulated.bytes),
  }),
  msi: fileTarget({
    ...{ format: msi, good: GOOD_INSTALLERS, malformed: MALFORMED_INSTALLERS },
    requireUntouched: keeps('streams', streamsOf),
  }),
  powershell: fileTarget({
    ...{ format: powershell, good: GOOD_POWERSHELL, malformed: MALFORMED_POWERSHELL },
    requireUntouched: requireSameText,
  }),
  wsh: fileTarget({
    ...{ format: wsh, good: GOOD_WSH, malformed: MALFORMED_WSH },
    requireUntouched: requireSameText,
  }),
  rdp: fileTarget({
    ...{ format: rdp, good: GOOD_CONNECTIONS, malformed: MALFORMED_CONNECTIONS },
    requireUntouched: keeps('settings', settingsIn),
  }),
  nuget: fileTarget({
    ...{ format: nuget, good: GOOD_NUGET, malformed: MALFORMED_NUGET },
    requireUntouched: keeps(
      'entries',
      entriesWithout((name) => name === SIGNATURE_NAME),
    ),
  }),
  navx: fileTarget({
    ...{ format: navx, good: GOOD_EXTENSIONS, malformed: MALFORMED_EXTENSIONS },
    // Everything up to the block.
    requireUntouched: keeps('the package', (bytes) => bytes.subarray(0, 40 + Number(bytes.readBigUInt64LE(28)))),
  }),
  appx: fileTarget({
    ...{ format: appx, good: GOOD_PACKAGES, malformed: [...MALFORMED_PACKAGES, UNSIGNED_BUNDLE] },
    requireUntouched: keeps(
      'entries',
      entriesWithout((name) => name === PARTS.contentTypes || name === PARTS.signature),
    ),
    mutate: mutateArchive,
    // The publisher, and the packages in a bundle.
    rejectedByCheck: /^(appx|zip)-/,
    options: { innerPackages: true },
  }),
  pdf: fileTarget({
    ...{ format: pdf, good: GOOD_DOCUMENTS, malformed: MALFORMED_DOCUMENTS },
    requireUntouched: requireSameStart,
  }),
};
