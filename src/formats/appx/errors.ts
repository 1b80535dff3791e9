import { defineErrors, defineWarnings } from '../../errors/define-errors.ts';

export const appxErrors = defineErrors('local', {
  'appx-malformed': {
    message: 'the package is malformed: {problem}',
    hint: 'Build the package again with a packaging program such as makeappx.',
  },
  'appx-signature-not-last': {
    message: 'AppxSignature.p7x is not the last entry of the package',
    hint: 'Sign the original package. An entry that is added after signing makes the signature invalid.',
  },
  'appx-too-large': {
    message: 'the package has {count} entries and is {size} bytes long, but it has no ZIP64 records',
    hint: 'Build the package with a packaging program that writes ZIP64 records, such as makeappx.',
  },
  'appx-publisher-differs': {
    message: 'the publisher in {part} is {publisher}, but the subject of the certificate is {subject}{spelling}',
    hint: 'Set Publisher in the manifest to exactly the subject of the certificate, and build the package again: Windows compares the two texts.',
  },
  'appx-packages-unsigned': {
    message: 'packages in the bundle are not signed: {names}',
    hint: 'Use --inner-packages to sign these packages too, each with its own signature. You can also sign each package, build the bundle from the signed packages, and sign the bundle.',
  },
  'appx-packages-move': {
    message: 'signing would change the offsets of packages in the bundle, because {part} is stored before them',
    hint: 'Build the bundle again with makeappx, which writes {part} after the packages.',
  },
  'appx-package-unfit': {
    message: 'the package {name} in the bundle cannot be signed with the bundle: {problem}',
    hint: 'Build the package again, and then the bundle. Nothing was sent.',
  },
});

export const appxWarnings = defineWarnings({
  'packages-kept': 'packages that are already signed stay unchanged: {names}',
});
