import { bytesErrors } from '../bytes/errors.ts';
import { defineErrors } from '../errors/define-errors.ts';

export const cabinetErrors = defineErrors('local', {
  'cabinet-missing': {
    message: 'some of the contents are in the cabinet {name}, which is not in the same folder',
    hint: 'Put all cabinets of the set into one folder, and verify that folder.',
  },
  'cabinet-reserve-in-use': {
    message: "the reserved area of the cabinet's header ({length} bytes) contains data from another program",
    hint: 'Create the cabinet without data in its reserved area, because the signature needs this area.',
  },
});

export function malformed(problem: string, cause?: unknown) {
  return bytesErrors('file-malformed', { what: 'the cabinet', problem }, { cause });
}
