/** Plans which files in containers are signed. All files are checked before the first request. */

import { basename, sep } from 'node:path';
import type { ByteSource } from '../bytes/byte-source.ts';
import { checkPurpose } from '../certificates/signing-chain.ts';
import { CodesignError, toCodesignError } from '../errors/codesign-error.ts';
import { asClause, isBroken } from '../errors/finding.ts';
import { filesNextTo } from '../files/files-next-to.ts';
import { checkInflated } from '../format/contents.ts';
import { type Format, signingOf } from '../format/format.ts';
import type { ContainedFile, FindNeighbour, SignableFile } from '../format/signable-file.ts';
import { type FoundSignature, withNested } from '../format/signature.ts';
import { isOfOtherType, kindOf } from '../formats/kinds.ts';
import { contentReader } from '../formats/recognise.ts';
import { hasIntact } from '../signing/existing-signatures.ts';
import { contextFor } from '../signing/files/contained.ts';
import type { InnerFile, InnerFiles, RecordedInner } from '../signing/files/inner-files.ts';
import type { RecognisedFile } from '../signing/planned-file.ts';
import type { PlannedInside, PlanningInside } from '../signing/signing-policy.ts';
import { containerErrors, containerWarnings } from './errors.ts';
import { neighbours } from './neighbours.ts';
import { whyReadOnly } from './read-only.ts';
import type { findStaleFeeds } from './stale-feeds.ts';
import { hasContents, locationOf, type WalkLimits } from './walk.ts';

export interface InsideRules {
  /** `names` are the names of the containers and of the file, from the outermost container down. */
  isExcluded(path: string, names: readonly string[]): boolean;
  /** `location` begins with the path of the outermost file relative to its folder. */
  ruleFor(location: readonly string[], kind: string): InsideRule;
}

export interface InsideRule {
  readonly isExempt: boolean;
  /** States whether the file is signed. By default, only programs and installers are signed. */
  readonly sign: boolean | undefined;
}

interface Setting {
  readonly rules: InsideRules;
  readonly limits: WalkLimits;
  readonly formats: readonly Format[];
  readonly staleFeeds: ReturnType<typeof findStaleFeeds>;
}

/** Kinds of files that are signed by default, because Windows warns about such files if they have no signature. */
const SIGNED_BY_DEFAULT: ReadonlySet<string> = new Set(['pe', 'msi']);

interface Container {
  readonly neighbour: FindNeighbour;
  readonly opened: SignableFile;
  readonly source: ByteSource;
  readonly format: Format;
  readonly names: readonly string[];
}

export async function planInside(
  opened: SignableFile,
  source: ByteSource,
  { path, output, pathInFolder, format }: RecognisedFile,
  { context, policy, digestEntries, findWritten }: PlanningInside,
  { rules, limits, formats, staleFeeds }: Setting,
): Promise<PlannedInside> {
  await using next = filesNextTo(path);
  const kept: InnerFiles['kept'][number][] = [];
  const recorded: RecordedInner[] = [];
  const warnings: string[] = [];
  const replaces = policy.existing === 'replace';
  const placeOf = (names: readonly string[]) => locationOf([path, ...names]);
  const withSlashes = (pathInFolder ?? basename(path)).replaceAll(sep, '/');
  const ruleOf = (names: readonly string[], { id }: Format) => rules.ruleFor([withSlashes, ...names], id);
  let files = 0;
  let inflated = 0;

  function countFile(size: number): void {
    files += 1;
    inflated += size;
    if (files > limits.files) throw containerErrors('contents-too-many', { limit: limits.files });
    checkInflated(inflated, source.size, limits.inflated);
  }

  async function visitContents(container: Container): Promise<readonly InnerFile[]> {
    const { neighbour, format: outer } = container;
    const { contents } = container.opened;
    if (contents === undefined) return [];
    if (container.names.length >= limits.depth) throw containerErrors('containers-too-deep', { limit: limits.depth });
    const readOnly = await whyReadOnly(outer, container.source, contents);
    const neighbourOf = neighbours(contents, neighbour, countFile);
    const toChange: InnerFile[] = [];
    try {
      for await (const file of contents.entries(neighbour)) {
        const names = [...container.names, file.name];
        countFile(file.size);
        const planned = rules.isExcluded(path, names) ? undefined : await visit(file, names, neighbourOf(file.name));
        if (planned === undefined) continue;
        if (readOnly !== undefined) {
          throw containerErrors('container-read-only', { location: placeOf(names), ...readOnly });
        }
        toChange.push(planned);
      }
    } catch (thrown) {
      warnNotOpened(thrown, container.names);
    }
    return toChange;
  }

  /** Files in a container that this program cannot open, such as an NSIS installer, stay unsigned. */
  function warnNotOpened(thrown: unknown, names: readonly string[]): void {
    if (!(thrown instanceof CodesignError) || thrown.code !== 'container-unsupported') throw thrown;
    warnings.push(containerWarnings('contents-not-opened', { location: placeOf(names), problem: thrown.message }));
  }

  /** Returns undefined if the file does not change. */
  async function visit(
    { name, size, open }: ContainedFile,
    names: readonly string[],
    neighbour: FindNeighbour,
  ): Promise<InnerFile | undefined> {
    const location = placeOf(names);
    const unfit = (thrown: unknown) => rethrowAsUnfit(location, thrown);
    const inner = await open().catch(unfit);
    const kind = await kindOf(inner, name, { formats });
    if (!('open' in kind)) {
      if (kind.archive !== undefined) {
        const problem = `${kind.archive} is not supported`;
        warnings.push(containerWarnings('contents-not-opened', { location, problem }));
      }
      return undefined;
    }
    const { isExempt, sign = SIGNED_BY_DEFAULT.has(kind.id) } = ruleOf(names, kind);
    const isWanted = sign && !isExempt && kind.signing !== undefined;
    if (isExempt && !hasContents(kind)) return undefined;
    const isNeeded = isWanted || hasContents(kind);
    const whole = await openWith(inner, kind, name).catch((thrown) =>
      isNeeded && !isOfOtherType(toCodesignError(thrown).code, kind, name) ? unfit(thrown) : undefined,
    );
    if (whole === undefined) return undefined;
    const { signatures } = whole;
    const isToReplace = isWanted && replaces;
    if (signatures.length > 0 && !isExempt && !isToReplace) await requireIntact(whole, location);
    const inside = await visitContents({ ...whole, source: inner, format: kind, names, neighbour });
    const isBreaking = inside.length > 0 && signatures.length > 0;
    if (isBreaking && (!replaces || isExempt)) throw signedContainer(location, inside);
    const isToSign = isBreaking || isToReplace || (isWanted && signatures.length === 0);
    if (isToSign) await checkFit(whole.opened, kind, location);
    else if (signatures.length > 0) await keep(whole.opened, signatures, { names, size, format: kind });
    if (!isToSign && inside.length === 0) return undefined;
    const fixedAlgorithm = whole.opened.signing?.fixedAlgorithm;
    return { names, size, format: kind, fixedAlgorithm, isToSign, inside };
  }

  async function openWith(inner: ByteSource, format: Format, name: string) {
    const file = await format.open(inner, contentReader(digestEntries), name);
    return { opened: file, signatures: await file.signatures() };
  }

  async function keep(
    file: SignableFile,
    signatures: readonly FoundSignature[],
    one: Pick<InnerFile, 'names' | 'size' | 'format'>,
  ): Promise<void> {
    kept.push(one);
    const written = file.signing && (await findWritten?.(signatures, contextFor(file.signing, context)));
    if (written !== undefined) recorded.push({ ...one, written });
  }

  async function checkFit(file: SignableFile, { signing, purpose, title }: Format, location: string): Promise<void> {
    const [mode = 'replace'] = signing?.modes ?? [];
    try {
      checkPurpose(context.chain.leaf, [purpose]);
      const own = signingOf(file, { title });
      const preview = await own.check(contextFor(own, context), mode);
      for (const text of preview.warnings) warnings.push(`${location}: ${text}`);
    } catch (thrown) {
      rethrowAsUnfit(location, thrown);
    }
  }

  const signedContainer = (location: string, inside: readonly InnerFile[]) =>
    containerErrors('container-signed', { location, files: inside.map(({ names }) => placeOf(names)).join(', ') });

  const rule = ruleOf([], format);
  const isToSign = !rule.isExempt && rule.sign !== false;
  const toChange = await visitContents({ opened, source, format, names: [], neighbour: next.find });
  const isBreaking = toChange.length > 0 && format.signing !== undefined && (await opened.signatures()).length > 0;
  if (isBreaking && (!replaces || !isToSign)) throw signedContainer(path, toChange);
  const isChanged = toChange.length > 0 || (isToSign && format.signing !== undefined);
  if (isChanged && path === output) {
    for (const feed of await staleFeeds(path, source)) warnings.push(containerWarnings('feed-stale', { feed }));
  }
  return { toChange, kept, recorded, warnings, isToSign };
}

async function requireIntact(
  { opened, signatures }: { readonly opened: SignableFile; readonly signatures: readonly FoundSignature[] },
  location: string,
): Promise<void> {
  if (await hasIntact(opened, signatures, () => true)) return;
  const examined = await Promise.all(withNested(signatures).map(({ examine }) => examine()));
  const found = [...(await opened.examine()), ...examined.flat()].find(isBroken);
  throw containerErrors('inside-broken', {
    location,
    problem: found === undefined ? 'it cannot be verified' : asClause(found),
  });
}

/** Adds the location of the file to the error. */
function rethrowAsUnfit(location: string, thrown: unknown): never {
  const cause = toCodesignError(thrown);
  if (cause.category === 'internal' || cause.code === 'container-unsupported') throw cause;
  throw containerErrors('inside-unfit', { location, problem: cause.message }, { cause });
}
