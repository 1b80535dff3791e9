/** What can be wrong with a cabinet that is to be signed. */

import { defineErrors } from '../../errors/define-errors.ts';

export const cabErrors = defineErrors({
  'cabinet-truncated': {
    category: 'local',
    message: (d: { size: number; what: string; end: number }) =>
      `the file ends after ${d.size} bytes, but its ${d.what} reaches up to byte ${d.end}`,
    hint: 'The cabinet is truncated or damaged. Build or download it again.',
  },
  'cabinet-malformed': {
    category: 'local',
    message: (d: { problem: string }) => `the cabinet is malformed: ${d.problem}`,
    hint: 'Build or download it again.',
  },
  'cabinet-reserve-in-use': {
    category: 'local',
    message: (d: { length: number }) =>
      `the reserved area of the cabinet's header (${d.length} bytes) holds data of another program`,
    hint: 'A signature has no other place. Create the cabinet without data in its reserved area.',
  },
  'cabinet-trailing-bytes': {
    category: 'local',
    message: (d: { length: number; end: number }) =>
      `${d.length} bytes that belong neither to the cabinet nor to a signature follow at byte ${d.end}`,
    hint: 'No signature would cover them. Start from the cabinet as it was created, and do not append data to it.',
  },
  'cabinet-too-large': {
    category: 'local',
    message: (d: { size: number }) =>
      `the cabinet is ${d.size} bytes long, and a signed one cannot be longer than 4 GiB`,
    hint: 'Sizes in a cabinet have 32 bits. Split the contents into several cabinets.',
  },
});
