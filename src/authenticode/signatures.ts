import type { WorkBudget } from '../crypto/work-budget.ts';
import { timestampsOf } from '../format/cms.ts';
import { cmsEnvelope, type FoundSignature } from '../format/signature.ts';
import { timestampReader } from '../timestamp/read-timestamps.ts';
import type { Timestamp } from '../timestamp/timestamp.ts';
import type { CmsEntry, Container, MeasuredContent } from './container.ts';
import { describeAuthenticode } from './describe-authenticode.ts';
import { authenticodeErrors } from './errors.ts';
import { examineAuthenticode, type SignedFile } from './examine-authenticode.ts';
import { AUTHENTICODE_PROFILE } from './profile.ts';
import { type FoundCms, findAuthenticode, signatureBudget, unreadableSignature } from './read-authenticode.ts';

export interface LocatedSignature {
  readonly entry: CmsEntry;
  readonly found: FoundCms;
}

/** Returns one signature for each entry, readable or not, in order. */
export async function findSignatures(container: Container): Promise<readonly LocatedSignature[]> {
  const { contentType } = container.kind;
  const room = signatureBudget();
  const tooLong = authenticodeErrors('authenticode-malformed', { problem: 'it is too long to be one' });
  return (await container.entries()).map((entry) => {
    const { cms } = entry;
    const isThere = cms !== undefined;
    const found = isThere ? findAuthenticode(cms, room, contentType) : unreadableSignature(new Uint8Array(), tooLong);
    return { entry, found };
  });
}

/** `measured` must contain a digest for each algorithm of the signatures. */
export function embeddedSignatures(
  located: readonly LocatedSignature[],
  { kind, compare }: Container,
  measured: () => Promise<MeasuredContent>,
  budget: WorkBudget,
): readonly FoundSignature[] {
  const read = timestampReader(budget);
  const signedFile = async (): Promise<SignedFile> => ({ ...kind, digests: (await measured()).digests });
  const embedded = (found: FoundCms, location: string, entry?: CmsEntry): FoundSignature => {
    const { cms, parts, signedData } = found;
    let timestamps: readonly Timestamp[] | undefined;
    return {
      location,
      envelope: cmsEnvelope(cms),
      signedData,
      signerCertificate: signedData?.signers[0].certificate,
      signerName: nameOf(found),
      algorithm: parts?.algorithm,
      nested: found.nested.map((inner, index) => embedded(inner, nestedLocation(location, index))),
      // Lazy, because reading timestamps verifies their signatures. A list of signatures does not need that.
      get timestamps() {
        const [signer] = parts?.signedData.signers ?? [];
        timestamps ??= parts && signer ? timestampsOf(AUTHENTICODE_PROFILE, parts.signedData, signer, read) : [];
        return timestamps;
      },
      details: async () => (parts === undefined ? [] : describeAuthenticode(parts, await signedFile())),
      examine: async () => [
        ...examineAuthenticode(found, await signedFile(), budget),
        ...((parts && (await compare?.(parts))) ?? []),
        ...((await entry?.examine()) ?? []),
      ],
    };
  };
  return located.map(({ entry, found }) => embedded(found, entry.location, entry));
}

export function nestedLocation(outer: string, index: number): string {
  return `nested signature ${index + 1} in ${outer}`;
}

function nameOf({ parts, signedData }: FoundCms): string {
  const name = parts?.signerName ?? signedData?.signers[0].name;
  return name ?? '(unreadable signature)';
}
