import type { ByteSource } from '../../../bytes/byte-source.ts';
import { createWorkBudget } from '../../../crypto/work-budget.ts';
import { expectedError } from '../../../errors/codesign-error.ts';
import { asClause, isAgainst } from '../../../errors/finding.ts';
import { damagedResult } from '../../../format/errors.ts';
import type { ContentReader, SignableFile, Signing, SigningContext } from '../../../format/signable-file.ts';
import { IN_ZIP64_32 } from '../../../zip/fields.ts';
import { compareDigests } from '../block-map.ts';
import { appxErrors } from '../errors.ts';
import { type AppxPackage, mappedEntries, ROOM } from '../package.ts';
import { examineOffsets, type InnerPackage, innerPackages, listed, unfitPackage } from './packages.ts';

/** Limit in bytes on the memory that rewriting takes, sufficient for the directories of 100,000 files. */
const MOST_HELD = 16 * 1024 * 1024;
/** Without ZIP64, signing can make a package longer by at most this number of bytes. */
const ROOM_IN_PACKAGE = 256 * 1024;
const WORK_FOR_PACKAGES = 30_000;

export type OpenedPackage = SignableFile & { readonly signing: Signing };

type OpenPackage = (opened: AppxPackage, source: ByteSource, reader: ContentReader) => OpenedPackage;

export function bundleOf(opened: AppxPackage, source: ByteSource, reader: ContentReader, open: OpenPackage) {
  const { archive, manifest, wrongSizes, blockMap } = opened;
  const innerReader = { ...reader, budget: createWorkBudget(WORK_FOR_PACKAGES) };
  const openInner = (inner: InnerPackage) => open(inner.opened, inner.source, innerReader);

  function otherPublisher({ opened: { manifest: own } }: InnerPackage): string | undefined {
    if (own.publisher === manifest.publisher) return undefined;
    return `its publisher, ${own.publisher}, differs from that of the bundle`;
  }

  async function damageOf(inner: InnerPackage): Promise<string | undefined> {
    const other = otherPublisher(inner);
    if (other !== undefined) return other;
    const file = openInner(inner);
    const [signature] = await file.signatures();
    const findings = [...(await file.examine()), ...((await signature?.examine()) ?? [])];
    const found = findings.find((finding) => isAgainst(finding, 'integrity'));
    return found && asClause(found);
  }

  async function wrongPlaces(): Promise<readonly string[]> {
    const digests = await compareDigests(source, blockMap.bytes, mappedEntries(archive, manifest));
    return [...examineOffsets(opened).map(asClause), ...wrongSizes, ...digests];
  }

  return {
    damageOf,

    /** Returns the names of the signed packages, which stay unchanged. */
    async check(context: SigningContext) {
      const wrong = manifest.packages.length === 0 ? [] : await wrongPlaces();
      if (wrong.length > 0) throw appxErrors('appx-malformed', { problem: listed(wrong) });
      const kept: string[] = [];
      let count = 0;
      let held = 0;
      for await (const inner of innerPackages(source, opened)) {
        const { name } = inner;
        const isSigned = inner.opened.signature !== undefined;
        const problem = isSigned ? await damageOf(inner) : otherPublisher(inner);
        if (problem !== undefined) throw unfitPackage(name, problem);
        if (isSigned) {
          kept.push(name);
          continue;
        }
        const checking = openInner(inner).signing.check(context, 'replace');
        await checking.catch((thrown: unknown) => {
          throw unfitPackage(name, expectedError(thrown).message, thrown);
        });
        count += 1;
        held += inner.opened.archive.directory.length + inner.opened.contentTypes.bytes.length;
        if (held > MOST_HELD) throw unfitPackage(name, 'the packages of the bundle have too many files');
        if (inner.source.size + ROOM > IN_ZIP64_32) {
          throw unfitPackage(name, 'it has more than 4 GiB: sign it before the bundle');
        }
      }
      if (archive.end.zip64 === undefined && source.size + ROOM + count * ROOM_IN_PACKAGE > IN_ZIP64_32) {
        throw appxErrors('appx-too-large', { count: archive.entries.length, size: source.size });
      }
      return { isSigned: count > 0, kept };
    },

    async verifyPlaces(): Promise<void> {
      const [wrong] = await wrongPlaces();
      if (wrong !== undefined) throw damagedResult(wrong);
    },
  };
}
