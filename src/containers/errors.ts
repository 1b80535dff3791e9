import { defineErrors, defineWarnings } from '../errors/define-errors.ts';

export const containerErrors = defineErrors('local', {
  'containers-too-deep': {
    message: 'containers are nested more than {limit} levels deep',
    hint: 'Check where the file comes from. Real packages have up to four levels.',
    isUnsupported: true,
  },
  'contents-too-many': {
    message: 'the file contains more than {limit} files',
    hint: 'Unpack the file, and verify the folder in parts.',
    isUnsupported: true,
  },
  'sign-before-packing': {
    message:
      '{location} is not signed, and the files in a package (MSIX, APPX) cannot be changed: its block map contains their digests',
    hint: 'Sign the program before the package is built, or omit it with --exclude.',
  },
  'msi-read-only': {
    message:
      '{location} is not signed, and the files in an installer (MSI) cannot be changed: its tables contain their sizes and digests',
    hint: 'Sign the program before the installer is built, or omit it with --exclude.',
  },
  'cabinet-read-only': {
    message:
      "{location} is not signed, and the files in a cabinet (CAB) cannot be changed: installers contain the cabinet's size and digest",
    hint: 'Sign the program before the cabinet is built, or omit it with --exclude.',
  },
  'asar-read-only': {
    message:
      "{location} is not signed, and the files in an ASAR archive cannot be changed: the Electron program contains the archive's digest",
    hint: 'Sign the program before the application is packed (electron-builder: asarUnpack and the sign hook), or omit it with --exclude.',
  },
  'tar-read-only': {
    message: '{location} is not signed, and the files in a tar or gzip archive cannot be changed',
    hint: 'Sign the program before the archive is built, use a ZIP archive, or omit the program with --exclude.',
  },
  'wheel-read-only': {
    message:
      '{location} is not signed, and the files in a Python wheel cannot be changed: its RECORD file contains their digests',
    hint: 'Sign the program before the wheel is built, or omit it with --exclude.',
  },
  'jmod-read-only': {
    message:
      "{location} is not signed, and the files in a JMOD file cannot be changed: other Java modules contain the module's digest",
    hint: 'Sign the program before the JMOD file is built, or omit it with --exclude.',
  },
  'overlay-read-only': {
    message:
      '{location} is not signed, and files that are appended to a program or other data cannot be changed: the program contains their sizes or digests',
    hint: 'Sign the program before the installer is built (WiX Burn: detach, sign and reattach the engine), or omit it with --exclude.',
  },
  'other-signature-read-only': {
    message: '{location} is not signed, and its container has a signature of another kind, which a change would break',
    hint: 'Sign the program before its container is signed, or omit it with --exclude.',
  },
  'container-read-only': {
    message: '{location} is not signed, and the files in its container cannot be changed',
    hint: 'Sign the program before its container is built, or omit it with --exclude.',
  },
  'container-signed': {
    message: 'the signature of {location} would break, because files in it are not signed yet: {files}',
    hint: 'Use --replace to sign these files and then the container again, or omit them with --exclude.',
  },
  'inside-broken': {
    message: 'the signature of {location} is broken: {problem}',
    hint: 'Build the file again. Use --replace to sign the file again, or omit it with --exclude.',
  },
  'inside-unreadable': {
    message: '{location} cannot be read: {problem}',
    hint: 'Build the file again, or omit it with --exclude.',
  },
  'inside-unfit': {
    message: '{location} cannot be signed: {problem}',
    hint: 'Build the file again, or omit it with --exclude.',
  },
});

export const containerWarnings = defineWarnings({
  'feed-stale':
    '{feed} contains digests of the file as it was before signing, or of its blocks: create it again after signing',
  'contents-not-opened': '{location} was not opened completely, so files in it may lack a signature: {problem}',
});
