import { secondOf } from '../../asn1/times.ts';
import { dateOf } from '../../certificates/signing-chain.ts';
import { type Finding, isAgainst, isObjection } from '../../errors/finding.ts';
import { plural } from '../../errors/plural.ts';
import { printable } from '../../errors/printable.ts';
import {
  flatten,
  type Identity,
  isGoodVerdict,
  type Verdict,
  type VerifiedFile,
  type VerifiedSignature,
  type VerifiedTimestamp,
} from '../../verifying/verdict.ts';
import type { Io } from '../io.ts';
import { type Annotation, annotationLine, hasAnnotations } from './github.ts';
import { type LinesOptions, shown, writeLines } from './lines.ts';
import { countVerdicts, warningsOf } from './verdict-json.ts';

const MESSAGE_LENGTH = 1000;
const INDENT = ' '.repeat(14);
const MAX_ROOTS = 3;
const ROOTS_HINT =
  "hint: if you trust it, name its certificate file with --roots (`--roots system` adds the system's roots), or check integrity only with --integrity-only";

type Shows = (finding: Finding, signatures: readonly VerifiedSignature[]) => boolean;

export function isGood({ verdict }: VerifiedFile): boolean {
  return isGoodVerdict(verdict);
}

export function printVerdict(file: VerifiedFile, { quiet = false, verbose = false }: LinesOptions, io: Io): void {
  if (quiet && isGood(file)) return;
  const lines = [`${(file.verdict ?? '').padEnd(14)}${shown(file.path)}: ${headline(file)}`];
  const shows: Shows = (finding, signatures) => {
    if (verbose) return true;
    if (!isObjection(finding)) return finding.weight === 'warning' && !quiet;
    if (file.verdict === 'broken' || file.verdict === 'unsupported') return finding.weight === file.verdict;
    return file.verdict !== 'untrusted' || !followsFromRoot(finding, signatures);
  };
  const all = flatten(file.signatures);
  for (const finding of file.findings) if (shows(finding, all)) lines.push(`${INDENT}${sentence(finding)}`);
  const isNamed = verbose || file.signatures.length > 1;
  for (const signature of file.signatures) {
    if (isNamed) lines.push(`${INDENT}${printable(signature.place)}: ${signerLine(signature)}`);
    const indent = isNamed ? `${INDENT}  ` : INDENT;
    for (const line of signatureLines(signature, indent, { verbose, shows })) lines.push(line);
  }
  writeLines(io.stdout, lines, io);
}

export function printRootsHint(files: readonly VerifiedFile[], io: Io): void {
  if (files.some((file) => unknownRoots(file).length > 0)) writeLines(io.stdout, [`${INDENT}${ROOTS_HINT}`], io);
}

/** Writes GitHub annotations. With `json`, standard output contains only the document. */
export function annotateVerdict(file: VerifiedFile, { stdout, stderr, env }: Io, { json, quiet }: LinesOptions): void {
  if (!hasAnnotations(env)) return;
  const { path, verdict, findings, error } = file;
  const annotate = (annotation: Annotation) => (json ? stderr : stdout).write(`${annotationLine(annotation)}\n`);
  if (!isGood(file)) {
    const all = [...findings, ...flatten(file.signatures).flatMap((signature) => signature.findings)];
    const reasons = all.filter(isObjection).map(({ message }) => message);
    const message = error === undefined ? [headline(file), ...reasons].join('\n') : error.message;
    annotate({ kind: 'error', title: error?.code ?? verdict ?? 'failed', message, file: path });
  }
  const warnings = quiet ? [] : warningsOf(file).map(({ message, code }) => `${message} [${code}]`);
  if (warnings.length > 0)
    annotate({ kind: 'warning', title: 'codesign-remote', message: warnings.join('\n'), file: path });
}

function isAboutRoot({ code }: Finding): boolean {
  return code === 'root-not-trusted' || code === 'chain-incomplete';
}

/** Roots that are not trusted, or the last known issuers; the roots of signers come first. */
function unknownRoots({ verdict, signatures }: VerifiedFile): readonly string[] {
  if (verdict !== 'untrusted') return [];
  const all = flatten(signatures);
  const found = new Map<string, string>();
  const add = ({ signer, findings }: Pick<VerifiedSignature, 'signer' | 'findings'>, of: string): void => {
    const name = signer.root?.name ?? signer.path.at(-1)?.issuerName;
    if (name === undefined || found.has(name) || !findings.some(isAboutRoot)) return;
    found.set(name, `${signer.root === undefined ? 'issuer' : 'root'} ${quoted(name)}${of}`);
  };
  for (const signature of all) add(signature, '');
  for (const timestamp of all.flatMap(({ timestamps }) => timestamps)) add(timestamp, ' of a timestamp');
  return [...found.values()];
}

function lacksOnlyRoot({ integrity, findings }: VerifiedTimestamp): boolean {
  return integrity === 'intact' && findings.some(isAboutRoot) && findings.filter(isObjection).every(isAboutRoot);
}

/** True if trusting the roots would remove the finding, because the timestamps would then be valid. */
function followsFromRoot(finding: Finding, signatures: readonly VerifiedSignature[]): boolean {
  if (isAboutRoot(finding)) return true;
  if (finding.code !== 'timestamp-required' && finding.code !== 'certificate-expired') return false;
  return signatures.some(({ timestamps, signer }) =>
    timestamps.some(
      (timestamp) =>
        lacksOnlyRoot(timestamp) && signer.path.every(({ notAfter }) => (timestamp.time ?? notAfter) <= notAfter),
    ),
  );
}

/** Returns text such as `3 trusted`, `1 broken`, `2 warnings`. */
export function verdictCounts(files: readonly VerifiedFile[]): string[] {
  const { warnings = 0, ...verdicts } = countVerdicts(files);
  const counts = Object.entries(verdicts).map(([word, count]) => `${count} ${word}`);
  return warnings === 0 ? counts : [...counts, plural(warnings, 'warning')];
}

function headline(file: VerifiedFile): string {
  const { verdict, catalog, signatures } = file;
  const [first] = signatures;
  const others = signatures.length > 1 ? ` (and ${signatures.length - 1} more)` : '';
  const through = catalog === undefined ? '' : ` through the catalog ${shown(catalog)}`;
  if (first === undefined && catalog !== undefined) return `not signed${through}`;
  if (first === undefined && verdict === 'unsupported') return 'cannot be verified';
  if (first === undefined) return verdict === 'broken' ? 'the signed content cannot be determined' : 'not signed';
  const signedBy = ({ signer }: VerifiedSignature) => `signed by ${quoted(signer.name)}${others}${through}`;
  const signer = signedBy(first);
  switch (verdict as Verdict) {
    case 'broken':
      return brokenHeadline(file, first, signedBy);
    case 'unsupported':
      return `cannot be verified; it claims to be ${signer}`;
    case 'intact':
      return `${signer}${when(first)}; trust was not checked`;
    case 'untrusted':
      return `${unknownRootsText(unknownRoots(file))}intact, ${signer}${when(first)}${otherObjection(first)}`;
    case 'not-accepted':
      return `intact, ${signer}${when(first)}${first.trust === 'trusted' ? ', trusted' : ''}, but it does not meet the requirements`;
    default:
      return `intact, ${signer}${when(first)}${root(first)}`;
  }
}

const CONTENT_CHANGED: ReadonlySet<string> = new Set([
  'content-digest-differs',
  'pdf-changed-after-signing',
  'manifest-digest-differs',
  'entries-removed',
  'block-map-differs',
  'rdp-settings-uncovered',
]);

function brokenHeadline(
  { signatures, findings }: VerifiedFile,
  first: VerifiedSignature,
  signedBy: (signature: VerifiedSignature) => string,
): string {
  const all = flatten(signatures);
  const changed = isContentChanged(findings) ? first : all.find((one) => isContentChanged(one.findings));
  const signature = changed ?? all.find(({ integrity }) => integrity === 'broken') ?? first;
  if (signature.signer.sha256 === undefined) return 'not intact';
  const text = signedBy(signature);
  return changed === undefined ? `not intact; it claims to be ${text}` : `its content changed after it was ${text}`;
}

/** A valid signature value with another message digest means that the content changed after signing. */
function isContentChanged(findings: readonly Finding[]): boolean {
  const codes = new Set(findings.map(({ code }) => code));
  const isOtherMessage = codes.has('message-digest-differs') && !codes.has('signature-value-wrong');
  return isOtherMessage || [...codes].some((code) => CONTENT_CHANGED.has(code));
}

function when({ time, timestamps }: VerifiedSignature): string {
  if (time !== undefined) return ` before ${secondOf(time)}`;
  const [first] = timestamps;
  if (first === undefined) return ', without a timestamp';
  const isFine = timestamps.every(lacksOnlyRoot) && first.time !== undefined;
  return isFine ? `, with a timestamp of ${secondOf(first.time)}` : ', with a timestamp that is not valid';
}

function root({ signer }: VerifiedSignature): string {
  return signer.root === undefined ? '' : `, trusted by root ${quoted(signer.root.name)}`;
}

function unknownRootsText(roots: readonly string[]): string {
  if (roots.length === 0) return '';
  const more = roots.length > MAX_ROOTS ? ` and ${roots.length - MAX_ROOTS} more` : '';
  return `${roots.slice(0, MAX_ROOTS).join(', ')}${more} ${roots.length === 1 ? 'is' : 'are'} not among your trusted roots; `;
}

function otherObjection(signature: VerifiedSignature): string {
  const isRejected = signature.findings.some(
    (finding) => isAgainst(finding, 'trust') && !followsFromRoot(finding, [signature]),
  );
  return isRejected ? ', its signer is not trusted' : '';
}

function signatureLines(
  signature: VerifiedSignature,
  indent: string,
  options: { readonly verbose: boolean; readonly shows: Shows },
): string[] {
  const { findings, timestamps, nested, signer } = signature;
  return [
    ...(options.verbose ? identityLines(signer, indent) : []),
    // Timestamps come first, because certificates are checked at the time of the timestamp.
    ...timestamps.flatMap((timestamp) => timestampLines(timestamp, indent, options)),
    ...findings.filter((one) => options.shows(one, [signature])).map((one) => `${indent}${sentence(one)}`),
    ...nested.flatMap((inner) => [
      `${indent}${inner.isCoSigner === true ? 'other signer' : 'nested'}: ${signerLine(inner)}`,
      ...signatureLines(inner, `${indent}  `, options),
    ]),
  ];
}

function timestampLines(
  timestamp: VerifiedTimestamp,
  indent: string,
  { verbose, shows }: { readonly verbose: boolean; readonly shows: Shows },
): string[] {
  const { time, signer, findings } = timestamp;
  const visible = findings.filter((finding) => shows(finding, []));
  if (!verbose && visible.length === 0) return [];
  return [
    `${indent}timestamp${time === undefined ? '' : ` of ${secondOf(time)}`} by ${quoted(signer.name)}: ${states(timestamp)}`,
    ...(verbose ? identityLines(signer, `${indent}  `) : []),
    ...visible.map((finding) => `${indent}  ${sentence(finding)}`),
  ];
}

function identityLines({ sha256, path }: Identity, indent: string): string[] {
  return [
    ...(sha256 === undefined ? [] : [`${indent}certificate with SHA-256 ${sha256}`]),
    ...path.map(
      ({ name, notBefore, notAfter }) => `${indent}${quoted(name)}, valid ${dateOf(notBefore)} to ${dateOf(notAfter)}`,
    ),
  ];
}

function signerLine(signature: VerifiedSignature): string {
  const { signer, time } = signature;
  return `signed by ${quoted(signer.name)}${time === undefined ? '' : ` before ${secondOf(time)}`}: ${states(signature)}`;
}

function states({ integrity, trust }: VerifiedSignature | VerifiedTimestamp): string {
  return `${integrity}, ${trust === 'not-checked' ? 'trust was not checked' : trust}`;
}

function sentence({ message, code, weight }: Finding): string {
  const word = weight === 'warning' ? 'warning: ' : '';
  return `${word}${printable(message, MESSAGE_LENGTH)} [${code}]`;
}

function quoted(name: string): string {
  return `"${printable(name)}"`;
}
