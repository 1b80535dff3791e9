import { type StagedCopyOptions, stageCopy } from '../../../../src/signing/files/staged-copy.ts';
import { digestEntries } from '../../../../src/zip/entry-digests.ts';

/** A temporary copy for this target, with the name `.codesign-remote-x.tmp`. */
export const testCopy = (of: Pick<StagedCopyOptions, 'source' | 'stats' | 'target'>) =>
  stageCopy({ ...of, randomName: () => 'x', digestEntries, temporaryFiles: new Set(), onEvent: () => undefined });
