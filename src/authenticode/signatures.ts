import type { WorkBudget } from '../crypto/work-budget.ts';
import { cmsSignature, timestampsOf } from '../format/cms.ts';
import type { FoundSignature } from '../format/signature.ts';
import { timestampReader } from '../timestamp/read-timestamps.ts';
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

/** One for each entry, readable or not. */
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
    const nested = found.nested.map((inner, index) => embedded(inner, nestedLocation(location, index)));
    return cmsSignature({
      location,
      cms,
      signedData,
      signer: signedData?.signers[0],
      algorithm: () => parts?.algorithm,
      timestamps: () =>
        parts === undefined
          ? []
          : timestampsOf(AUTHENTICODE_PROFILE, parts.signedData, parts.signedData.signers[0], read),
      contained: nested.map((signature) => ({ as: 'nested', signature })),
      details: async () => (parts === undefined ? [] : describeAuthenticode(parts, await signedFile())),
      examine: async () => [
        ...examineAuthenticode(found, await signedFile(), budget),
        ...((parts && (await compare?.(parts))) ?? []),
        ...((await entry?.examine()) ?? []),
      ],
    });
  };
  return located.map(({ entry, found }) => embedded(found, entry.location, entry));
}

export function nestedLocation(outer: string, index: number): string {
  return `nested signature ${index + 1} in ${outer}`;
}
