import { defineErrors, defineWarnings } from '../errors/define-errors.ts';

export const containerErrors = defineErrors('local', {
  'containers-too-deep': {
    message: 'containers are nested more than {limit} levels deep',
    hint: 'Check where the file comes from. Real packages are nested at most four levels deep.',
    isUnsupported: true,
  },
  'contents-too-many': {
    message: 'the file contains more than {limit} files',
    hint: 'Unpack the file, and verify its folders one at a time.',
    isUnsupported: true,
  },
  'container-read-only': {
    message: '{location} is not signed, and the files in {container} cannot be changed: {reason}',
    hint: 'Sign the program before {container} is built, or exclude the program with --exclude.',
  },
  'container-signed': {
    message: 'signing the unsigned files inside {location} would break its signature: {files}',
    hint: 'Use --replace to sign these files and then the container again, or exclude these files with --exclude.',
  },
  'inside-broken': {
    message: 'the signature of {location} is broken: {problem}',
    hint: 'Build the file again. Use --replace to sign the file again, or exclude the file with --exclude.',
  },
  'inside-unfit': {
    message: '{location} cannot be signed: {problem}',
    hint: 'Build the file again, or exclude the file with --exclude.',
  },
});

export const containerWarnings = defineWarnings({
  'feed-stale':
    '{feed} contains digests of the file as it was before signing, or of its blocks: create it again after signing',
  'contents-not-opened': '{location} was not opened completely, so files in it may lack a signature: {problem}',
});
