import { signerNameOf } from '../cms/parse-signed-data.ts';
import type { WorkBudget } from '../crypto/work-budget.ts';
import { type CodesignError, orUndefined } from '../errors/codesign-error.ts';
import type { Finding } from '../errors/finding.ts';
import { cmsEnvelope, type EmbeddedSignature } from '../formats/format.ts';
import { timestampsOf } from '../formats/signature-profile.ts';
import { type ReadTimestamps, timestampReader } from '../timestamp/read-timestamps.ts';
import type { Timestamp } from '../timestamp/timestamp.ts';
import type { CmsEntry, Container, MeasuredContent } from './container.ts';
import { describeAuthenticode } from './describe-authenticode.ts';
import { authenticodeErrors } from './errors.ts';
import { examineAuthenticode, type SignedFile } from './examine-authenticode.ts';
import { AUTHENTICODE_PROFILE } from './profile.ts';
import {
  type AuthenticodeParts,
  type FoundSignature,
  findAuthenticode,
  roomForSignatures,
  unreadableSignature,
} from './read-authenticode.ts';

export interface LocatedSignature {
  readonly entry: CmsEntry;
  readonly found: FoundSignature;
}

/** One for each entry, in order. One that cannot be read is listed as such. */
export async function findSignatures(container: Container): Promise<readonly LocatedSignature[]> {
  const { contentType } = container.kind;
  const room = roomForSignatures();
  return (await container.entries()).map((entry) => ({
    entry,
    found:
      entry.cms === undefined
        ? unreadableSignature(new Uint8Array(), tooLong())
        : findAuthenticode(entry.cms, { room, contentType }),
  }));
}

/** `measured` has a digest by each of their algorithms. */
export function embeddedSignatures(
  located: readonly LocatedSignature[],
  { kind, compare }: Container,
  measured: () => Promise<MeasuredContent>,
  budget: WorkBudget,
): readonly EmbeddedSignature[] {
  const reading: Reading = {
    signedFile: async () => ({ ...kind, digests: (await measured()).digests }),
    compare: async (parts) => (await compare?.(parts)) ?? [],
    readTimestamps: timestampReader(budget),
    budget,
  };
  return located.map(({ entry, found }) => embeddedSignature(entry, found, reading));
}

export function nestedLocation(outer: string, index: number): string {
  return `nested signature ${index + 1} in ${outer}`;
}

/** What all signatures of a file have in common. */
interface Reading {
  readonly signedFile: () => Promise<SignedFile>;
  readonly compare: (parts: AuthenticodeParts) => Promise<readonly Finding[]>;
  readonly readTimestamps: ReadTimestamps;
  readonly budget: WorkBudget;
}

function embeddedSignature(
  { location, examine }: Pick<CmsEntry, 'location' | 'examine'>,
  found: FoundSignature,
  reading: Reading,
): EmbeddedSignature {
  const { cms, parts, signedData } = found;
  let timestamps: readonly Timestamp[] | undefined;
  return {
    location,
    envelope: cmsEnvelope(cms),
    signedData,
    signerCertificate: signedData?.signers[0].certificate,
    signerName: nameOf(found),
    algorithm: parts?.algorithm,
    nested: found.nested.map((inner, index) =>
      embeddedSignature({ location: nestedLocation(location, index), examine: async () => [] }, inner, reading),
    ),
    // Reading them verifies their signatures, which a list of signatures does not need.
    get timestamps() {
      timestamps ??=
        signedData === undefined || parts === undefined
          ? []
          : timestampsOf(AUTHENTICODE_PROFILE, signedData, signedData.signers[0], reading.readTimestamps);
      return timestamps;
    },
    details: async () => (parts === undefined ? [] : describeAuthenticode(parts, await reading.signedFile())),
    examine: async () => [
      ...examineAuthenticode(found, await reading.signedFile(), reading.budget),
      ...(parts === undefined ? [] : await reading.compare(parts)),
      ...(await examine()),
    ],
  };
}

const UNREADABLE = '(unreadable signature)';

function nameOf({ parts, signedData }: FoundSignature): string {
  if (parts !== undefined) return parts.signerName;
  return orUndefined(() => signedData && signerNameOf(signedData.signers[0])) ?? UNREADABLE;
}

function tooLong(): CodesignError {
  return authenticodeErrors('authenticode-malformed', { problem: 'it is too long to be one' });
}
