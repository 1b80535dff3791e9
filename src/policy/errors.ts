import { defineErrors, defineWarnings } from '../errors/define-errors.ts';

export const policyErrors = defineErrors('usage', {
  'policy-unreadable': {
    message: 'the policy {path} cannot be read: {problem}',
    hint: 'Set --policy to the path of a JSON file that the current user can read.',
  },
  'policy-invalid': {
    message: 'the policy {path} is invalid: {problem}',
    hint: 'docs/verify-inside.md describes the members of a policy.',
  },
  'policy-not-finished': {
    message: 'the policy {path} is incomplete: {problem}',
    hint: 'Replace the text TODO with the reason for the exception.',
  },
  'location-not-found': {
    message: 'no file in this run has the location {location} (--why)',
    hint: 'Copy a location from the output of codesign-remote verify --inside --verbose.',
  },
});

export const policyWarnings = defineWarnings({
  'exception-unused': 'the exception for {files} in the policy matches no file',
  'exception-not-needed': 'the exception for {files} in the policy is not needed: {count} have a good signature',
});
