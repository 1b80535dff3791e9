import { defineErrors } from '../errors/define-errors.ts';

export const hookErrors = defineErrors('local', {
  'unsigned-in-build': {
    message: 'the build has files without an intact signature: {files}',
    hint: 'Add their extensions to win.signExts of electron-builder, for example [".exe", ".dll", ".node"], and build again.',
  },
});
