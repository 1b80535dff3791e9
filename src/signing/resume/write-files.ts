import type { CallMetadata, Journal, RecordedSigningOptions, UnfinishedCall, Work } from '../../journal/journal.ts';
import { signingErrors } from '../errors.ts';
import type { FileOutcome, FileToSign } from '../outcome.ts';
import type { SigningJournal } from '../service/account.ts';
import { signFiles } from '../sign-files.ts';
import type { Signing } from '../signing-run.ts';

export interface SharedOptions extends Pick<Work, 'code' | 'algorithm'> {
  readonly signingOptions: RecordedSigningOptions;
}

export type CreateSigning = (shared: SharedOptions, journal: SigningJournal) => Signing | Promise<Signing>;

interface Group {
  readonly shared: SharedOptions;
  readonly files: Map<string, FileToSign>;
}

/** Returns the outcome for each file, by its absolute path. */
export async function writeFiles(
  calls: readonly UnfinishedCall[],
  journal: Journal,
  createSigning: CreateSigning,
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, FileOutcome>> {
  const outcomes = new Map<string, FileOutcome>();
  const known = knownOnly(journal, calls);
  for (const { shared, files } of groupsOf(calls)) {
    const result = await signFiles([...files.values()], await createSigning(shared, known), signal);
    for (const outcome of result.files) outcomes.set(outcome.path, outcome);
  }
  return outcomes;
}

/** Several signatures may have been requested for one path, but at most one of them still belongs to the file. */
function groupsOf(calls: readonly UnfinishedCall[]): readonly Group[] {
  const groups = new Map<string, Group>();
  for (const { work, files } of calls) {
    for (const { written, signingOptions } of files) {
      if (written) continue;
      // The signing time is looked up for each file. Inner files are written together with their bundle.
      const { path, output, inner, time, pathInFolder, ...others } = signingOptions;
      const { code, algorithm } = work;
      const key = JSON.stringify([code, algorithm, Object.entries(others).sort()]);
      const group = groups.get(key) ?? { shared: { code, algorithm, signingOptions }, files: new Map() };
      group.files.set(JSON.stringify([path, output]), { path, output, pathInFolder });
      groups.set(key, group);
    }
  }
  return [...groups.values()];
}

/** A journal that knows only the signatures of the given calls, and rejects every request for a new one. */
function knownOnly(journal: Journal, calls: readonly UnfinishedCall[]): SigningJournal {
  const wanted = new Set(calls.map(({ work }) => nameOf(work)));
  return {
    knownFor: async (work) => (wanted.has(nameOf(work)) ? await journal.knownFor(work) : []),
    repeatable: async () => calls,
    async known(request, waiting) {
      const { work, metadata } = request;
      const isWanted = wanted.has(nameOf(work));
      const known = isWanted ? await journal.known(request, waiting) : undefined;
      if (known === undefined)
        throw signingErrors(!isWanted && isPartOf(metadata, calls) ? 'signatures-missing' : 'changed-since');
      return known;
    },
    // Requests no signature: `known` either returns one or throws.
    claim: async () => undefined,
  };
}

/** True if a call is for an inner file of the same file, whose other signatures may never have been requested. */
function isPartOf({ signingOptions }: CallMetadata, calls: readonly UnfinishedCall[]): boolean {
  return calls.some(({ files }) =>
    files.some(({ signingOptions: other }) => {
      const isSame = other.path === signingOptions.path && other.output === signingOptions.output;
      return isSame && other.inner !== undefined;
    }),
  );
}

function nameOf({ origin, code, algorithm, digest }: Work): string {
  return JSON.stringify([origin, code, algorithm, digest]);
}
