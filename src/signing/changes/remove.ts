import { CodesignError } from '../../errors/codesign-error.ts';
import { counted } from '../../errors/counted.ts';
import { formatErrors } from '../../formats/errors.ts';
import { flatten, type SignableFile } from '../../formats/format.ts';
import type { LocalChange } from '../change-files.ts';
import { signerNames } from '../existing-signatures.ts';

export const removeSignatures: LocalChange = {
  async decide(opened) {
    const signatures = await opened.signatures();
    return signatures.length > 0 || (await holdsRemains(opened)) ? undefined : 'not-signed';
  },
  async prepare(opened) {
    const signatures = await opened.signatures();
    const removed = (await opened.removable?.()) ?? signatures;
    return {
      patch: await opened.remove(),
      check: (result) => assertLeft(result, signatures.length - removed.length),
      done: { status: 'removed', signatures: flatten(removed).length, removed: signerNames(removed) },
    };
  },
};

/** Whether there is something to take out although there is no signature: a table of other entries, say. */
async function holdsRemains(opened: SignableFile): Promise<boolean> {
  try {
    await opened.remove();
    return true;
  } catch (thrown) {
    if (thrown instanceof CodesignError && thrown.code === 'not-signed') return false;
    throw thrown;
  }
}

async function assertLeft(result: SignableFile, expected: number): Promise<void> {
  const left = (await result.signatures()).length;
  if (left !== expected)
    throw formatErrors('result-damaged', { reason: `it still holds ${counted(left, 'signature')}` });
}
