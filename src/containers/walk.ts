/** Verifies a file, and all files inside it at any depth. Writes nothing to the disk. */

import { createHash } from 'node:crypto';
import { extname } from 'node:path';
import type { ByteSource } from '../bytes/byte-source.ts';
import { CodesignError, expectedError } from '../errors/codesign-error.ts';
import { checkInflated } from '../format/contents.ts';
import { formatErrors } from '../format/errors.ts';
import type { Format } from '../format/format.ts';
import type { Catalog, FindNeighbour, SignableFile } from '../format/signable-file.ts';
import { isOfOtherType, kindOf, type OtherKind } from '../formats/kinds.ts';
import { zip } from '../formats/plain-zip/index.ts';
import { CONTAINERS } from '../formats/registry.ts';
import { isGoodVerdict, type VerifiedFile } from '../verifying/verdict.ts';
import { type Verifying, verifySource } from '../verifying/verify-file.ts';
import { containerErrors } from './errors.ts';
import { createNameCheck } from './names.ts';
import { neighbours } from './neighbours.ts';
import { catalogIn, verifyListed } from './package-catalog.ts';

export interface ContainedVerdict {
  /** Names of the outermost file, of each container, and of this file. */
  readonly path: readonly string[];
  /** Id of the format. A file without a supported format has the id `elf`, `mach-o`, `apk` or `other`. */
  readonly kind: string;
  /** undefined if the file has no supported format. */
  readonly verified: VerifiedFile | undefined;
  /** The reason why the file or a part of its contents could not be read. */
  readonly notOpened: Pick<CodesignError, 'code' | 'message'> | undefined;
  /** Set for a program in a signed package (MSIX), or for a program that the package's catalog lists. */
  readonly coveredBy: 'package' | 'catalog' | undefined;
  /** Path of a file with identical content that was verified in place of this file. */
  readonly sameAs: readonly string[] | undefined;
}

export interface WalkLimits {
  readonly depth: number;
  /** Limit on the number of files in one outer file. */
  readonly files: number;
  /** Limit on the number of bytes that are unpacked from one outer file. */
  readonly inflated: number;
}

/** Returns a location such as `dist/app.zip!/bin/app.exe`. */
export function locationOf(path: readonly string[]): string {
  return path.join('!/');
}

interface Place {
  readonly path: readonly string[];
  readonly coveredBy: 'package' | undefined;
  /** Catalog of the package that contains the file. */
  readonly catalog: Catalog | undefined;
  readonly neighbour: FindNeighbour;
}

interface Opening {
  readonly place: Place;
  /** States which signature covers the files inside this container. */
  readonly coveredBy: Place['coveredBy'];
  /** True for an MSIX package, which can contain a catalog of its programs. */
  readonly isPackage: boolean;
  readonly names: ReturnType<typeof createNameCheck>;
}

/** A walker verifies identical contents only once, even if they are in different outer files. */
export function createWalker(verifying: Verifying, limits: WalkLimits) {
  /** Keyed by content and extension, because both determine the format. */
  const known = new Map<string, readonly ContainedVerdict[]>();

  /** Returns the file itself first, and then the files inside it, in the order in which their containers store them. */
  async function walk(
    source: ByteSource,
    path: string,
    neighbour: FindNeighbour = async () => undefined,
  ): Promise<readonly ContainedVerdict[]> {
    const spent = { files: 0, inflated: 0 };

    function countFiles(count: number): void {
      spent.files += count;
      if (spent.files > limits.files) throw containerErrors('contents-too-many', { limit: limits.files });
    }

    function countFile(size: number): void {
      countFiles(1);
      spent.inflated += size;
      checkInflated(spent.inflated, source.size, limits.inflated);
    }

    async function visit(file: ByteSource, place: Place): Promise<readonly ContainedVerdict[]> {
      const name = place.path.at(-1) ?? '';
      const kind = await kindOf(file, name, verifying);
      if (!('open' in kind)) return [withoutFormat(kind, place)];
      const key = `${place.coveredBy} ${extname(name).toLowerCase()} ${await digestOf(file)}`;
      const before = place.catalog === undefined ? known.get(key) : undefined;
      if (before !== undefined) {
        // Nested copies of a container could otherwise multiply the results without limit.
        countFiles(before.length - 1);
        return moved(before, place.path);
      }
      let isAlone = true;
      const neighbour: FindNeighbour = (wanted) => {
        isAlone = false;
        return place.neighbour(wanted);
      };
      const found = await verifyWithContents(file, kind, { ...place, neighbour });
      if (place.catalog === undefined && isAlone) known.set(key, found);
      return found;
    }

    async function verifyWithContents(
      file: ByteSource,
      format: Format,
      place: Place,
    ): Promise<readonly ContainedVerdict[]> {
      let opened: SignableFile | undefined;
      const own = await verifySource(file, locationOf(place.path), format, verifying, (signable) => {
        opened = signable;
      });
      if (isOfOtherType(reasonOf(own)?.code, format, place.path.at(-1) ?? '')) {
        return [withoutFormat({ id: 'other', archive: undefined }, place)];
      }
      const inside: ContainedVerdict[] = [];
      const names = createNameCheck();
      const isPackage = format.id === 'appx';
      const coveredBy = isPackage && isGoodVerdict(own.verdict) ? 'package' : place.coveredBy;
      const damage = opened === undefined && hasContents(format) ? reasonOf(own) : undefined;
      // A package with a damaged block map can still be read as a ZIP archive.
      const readable = opened ?? (damage && (await openAsArchive(file, format)));
      const notVisited = readable && (await visitContents(readable, { place, coveredBy, isPackage, names }, inside));
      const notOpened = damage ?? notVisited;
      const { path, catalog } = place;
      const verified = { ...own, findings: [...own.findings, ...names.findings()] };
      const result = { path, kind: format.id, verified, notOpened, sameAs: undefined };
      if (catalog === undefined || format.id !== 'pe' || verified.verdict !== 'unsigned') {
        return [{ ...result, coveredBy: place.coveredBy }, ...inside];
      }
      const { verified: byCatalog, isListed } = await verifyListed(catalog, file, verified, verifying);
      return [{ ...result, verified: byCatalog, coveredBy: isListed ? 'catalog' : place.coveredBy }, ...inside];
    }

    /** Returns an error if some of the contents could not be read. */
    async function visitContents(
      { contents }: SignableFile,
      { place: { path: outer, neighbour }, coveredBy, isPackage, names }: Opening,
      inside: ContainedVerdict[],
    ): Promise<CodesignError | undefined> {
      if (contents === undefined) return undefined;
      try {
        const catalog = isPackage ? await catalogIn(contents, verifying) : undefined;
        if (outer.length > limits.depth) throw containerErrors('containers-too-deep', { limit: limits.depth });
        const neighbourOf = neighbours(contents, neighbour, countFile);
        for await (const { name, size, open } of contents.entries(neighbour, limits.inflated - spent.inflated)) {
          countFile(size);
          names.add(name);
          const place = { path: [...outer, name], coveredBy, catalog, neighbour: neighbourOf(name) };
          const file = await open().catch(expectedError);
          const found = file instanceof CodesignError ? [unreadable(file, place)] : await visit(file, place);
          for (const one of found) inside.push(one);
        }
        return undefined;
      } catch (thrown) {
        return expectedError(thrown);
      }
    }

    return await visit(source, { path: [path], coveredBy: undefined, catalog: undefined, neighbour });
  }

  return walk;
}

/** Returns true for a format whose files can contain other files that this program reads. */
export function hasContents(format: Format): boolean {
  return format.recognition.by === 'zip' || CONTAINERS.includes(format) || ['cab', 'msi'].includes(format.id);
}

async function openAsArchive(file: ByteSource, { recognition }: Format): Promise<SignableFile | undefined> {
  if (recognition.by !== 'zip') return undefined;
  const opened = await zip.open(file).catch(expectedError);
  return opened instanceof CodesignError ? undefined : opened;
}

/** For a file that cannot be opened, returns the error, or the finding with the error code. */
function reasonOf({ error, findings }: VerifiedFile) {
  return error ?? findings[0];
}

/** Returns the result for an outermost file, without the files inside it. */
export function outerFile(verified: VerifiedFile): ContainedVerdict {
  const { path, format } = verified;
  const none = { notOpened: undefined, coveredBy: undefined, sameAs: undefined };
  return { path: [path], kind: format ?? 'other', verified, ...none };
}

function unreadable(error: CodesignError, { path, coveredBy }: Place): ContainedVerdict {
  return { path, coveredBy, kind: 'other', verified: undefined, notOpened: error, sameAs: undefined };
}

function withoutFormat({ id, archive }: OtherKind, { path, coveredBy }: Place): ContainedVerdict {
  const notOpened = archive === undefined ? undefined : formatErrors('container-unsupported', { kind: archive });
  return { path, coveredBy, kind: id, verified: undefined, notOpened, sameAs: undefined };
}

/** Returns the same results for a file with identical content at another path. */
function moved(found: readonly ContainedVerdict[], path: readonly string[]): readonly ContainedVerdict[] {
  const depth = found[0]?.path.length ?? 0;
  return found.map((one) => ({ ...one, path: [...path, ...one.path.slice(depth)], sameAs: one.sameAs ?? one.path }));
}

async function digestOf(source: ByteSource): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of source.stream()) hash.update(chunk);
  return hash.digest('base64');
}
