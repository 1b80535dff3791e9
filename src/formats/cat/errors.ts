import { defineWarnings } from '../../errors/define-errors.ts';

export const catWarnings = defineWarnings({
  'listed-by-sha1':
    'the catalog lists its files by SHA-1 digests (version 1), and different files can be made with the same digest',
});
