import { defineErrors } from '../errors/define-errors.ts';

const FOR_UNSIGNED =
  'Add the extensions of unsigned files to win.signExts of electron-builder, such as [".exe", ".dll", ".node"].';
const FOR_CHANGED = 'Find the step of the build that changes signed files, and run it before they are signed.';

export const hookErrors = defineErrors('local', {
  'unsigned-in-build': {
    message: 'the build has files without an intact signature: {files}',
    hint: (d: { hasUnsigned: unknown; hasChanged: unknown }) =>
      [d.hasUnsigned ? FOR_UNSIGNED : '', d.hasChanged ? FOR_CHANGED : ''].join(' ').trim(),
  },
});
