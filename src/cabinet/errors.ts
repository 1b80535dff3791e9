import { defineErrors } from '../errors/define-errors.ts';

export const cabinetErrors = defineErrors('local', {
  'cabinet-malformed': {
    message: 'the cabinet is malformed: {problem}',
    hint: 'Build or download the cabinet again.',
  },
  'cabinet-data-damaged': {
    message: 'the data in the cabinet is damaged: {problem}',
    hint: 'Build or download the cabinet again: it is truncated or damaged.',
  },
  'cabinet-missing': {
    message: 'some of the contents are in the cabinet {name}, which is not in the same folder',
    hint: 'Put all cabinets that belong together into one folder, and verify the folder.',
  },
});

export function damaged(problem: string, cause?: unknown) {
  return cabinetErrors('cabinet-data-damaged', { problem }, { cause });
}
