import type { CallMetadata, Journal, RecordedSigningOptions, UnfinishedCall, Work } from '../../journal/journal.ts';
import { signingErrors } from '../errors.ts';
import type { FileOutcome, FileToSign } from '../outcome.ts';
import type { Claims } from '../service/call.ts';
import { signFiles } from '../sign-files.ts';
import type { Signing } from '../signing-run.ts';

/** What is the same for all files that one run can take. */
export interface Likeness extends Pick<Work, 'code' | 'algorithm'> {
  readonly signingOptions: RecordedSigningOptions;
}

/** A Signing with the settings of the run that requested the signatures. */
export type SigningLike = (likeness: Likeness, claims: Claims) => Signing;

interface Group {
  readonly likeness: Likeness;
  readonly files: Map<string, FileToSign>;
}

/** Gives the outcomes by the absolute path of the file. */
export async function writeFiles(
  calls: readonly UnfinishedCall[],
  journal: Journal,
  signingLike: SigningLike,
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, FileOutcome>> {
  const outcomes = new Map<string, FileOutcome>();
  const claims = knownOnly(journal, calls);
  for (const { likeness, files } of groupsOf(calls)) {
    const result = await signFiles([...files.values()], signingLike(likeness, claims), signal);
    for (const outcome of result.files) outcomes.set(outcome.path, outcome);
  }
  return outcomes;
}

/** Of a path that has waited for several signatures, each with other content, one at most is still the file's. */
function groupsOf(calls: readonly UnfinishedCall[]): readonly Group[] {
  const groups = new Map<string, Group>();
  for (const { work, files } of calls) {
    for (const { written, signingOptions } of files) {
      if (written || signingOptions === undefined) continue;
      // Each signature has a time of its own, which is found by the file. A file that is in another one is written with it.
      const { path, output, inner, time, ...others } = signingOptions;
      const { code, algorithm } = work;
      const key = JSON.stringify([code, algorithm, Object.entries(others).sort()]);
      const group = groups.get(key) ?? { likeness: { code, algorithm, signingOptions }, files: new Map() };
      group.files.set(JSON.stringify([path, output]), { path, output });
      groups.set(key, group);
    }
  }
  return [...groups.values()];
}

/** Work of none of the calls gets no claim, and so no signature is requested for it. */
function knownOnly(journal: Journal, calls: readonly UnfinishedCall[]): Claims {
  const wanted = new Set(calls.map(({ work }) => nameOf(work)));
  return {
    knownFor: async (work) => (wanted.has(nameOf(work)) ? await journal.knownFor(work) : []),
    isProven: (pair) => journal.isProven(pair),
    mismatches: (pair) => journal.mismatches(pair),
    repeatable: async () => calls,
    async claim(work, metadata, options) {
      if (!wanted.has(nameOf(work)))
        throw signingErrors(isPartOf(metadata, calls) ? 'signatures-missing' : 'changed-since');
      const claim = await journal.claim(work, metadata, options);
      if (claim.known !== undefined) return claim;
      // Another process has finished it meanwhile.
      await claim.release();
      throw signingErrors('changed-since');
    },
  };
}

/** Whether calls are for a file that is in the file, or the other way round: then others were perhaps never requested. */
function isPartOf({ signingOptions }: CallMetadata, calls: readonly UnfinishedCall[]): boolean {
  return calls.some(({ files }) =>
    files.some(({ signingOptions: other }) => {
      const isSame = other?.path === signingOptions?.path && other?.output === signingOptions?.output;
      return isSame && other?.inner !== undefined;
    }),
  );
}

function nameOf({ origin, code, algorithm, digest }: Work): string {
  return JSON.stringify([origin, code, algorithm, digest]);
}
