/** What can go wrong while files are signed or changed, apart from the errors of formats and of the service. */

import { defineErrors } from '../errors/define-errors.ts';

export const signingErrors = defineErrors({
  'read-only-file': {
    category: 'local',
    message: (d: { path: string }) => `${d.path} is read-only`,
    hint: 'Make it writable first (chmod u+w, attrib -r), or write the result elsewhere with --output.',
  },
  'file-changed': {
    category: 'local',
    message: 'the file changed during the run; it was left as it is now',
    hint: 'Another program is writing to it. Run again after that program has finished.',
  },
  'copy-differs': {
    category: 'local',
    message: 'the disk returned other bytes than were written to the temporary file',
    hint: 'Check the disk and the memory of this machine. The file is untouched.',
  },
  'copy-changed': {
    category: 'local',
    message: 'another program changed or replaced the temporary file',
    hint: 'Find the program, for example a virus scanner or a sync program, and keep it away from the folder. A file that is not in place yet is untouched.',
  },
  'output-conflict': {
    category: 'local',
    message: (d: { target: string }) =>
      `the result would be written to ${d.target}, which is the path of another file of this run`,
    hint: 'Sign such files in separate runs, with different --output folders.',
  },
  'unusable-name': {
    category: 'local',
    message: (d: { path: string; problem: string }) => `the result cannot be written to ${d.path}: ${d.problem}`,
    hint: 'Choose another name for the result with --output.',
  },
  'not-replaceable': {
    category: 'local',
    message: (d: { path: string; reason: string }) => `${d.path} cannot be replaced: ${d.reason}`,
    hint: 'Use --output for another path: the result is a new file that is renamed to the target.',
  },
  'target-busy': {
    category: 'local',
    message: (d: { name: string; who: string }) => `another run is writing ${d.name}: ${d.who}`,
    hint: (d: { lock: string }) => `Wait until it has ended, and run again. If no such run exists, remove ${d.lock}.`,
  },
  'lock-lost': {
    category: 'local',
    message: 'another run assumed this one had ended and may be writing the file; it was left as it is',
    hint: (d: { lock: string }) =>
      `Run again. ${d.lock} names the run that holds the file; other programs must not remove it.`,
  },
  'output-blocked': {
    category: 'local',
    message: (d: { path: string; blockedBy: string }) =>
      `the result cannot be written to ${d.path}: ${d.blockedBy} is not a folder`,
    hint: 'Name another path with --output.',
  },
  'signature-mismatch': {
    category: 'local',
    message: (d: { certificate: string; why?: string | undefined }) =>
      `the service's signature does not verify with the certificate "${d.certificate}"${d.why ?? ''}`,
    hint: (d: { code: string }) =>
      `The most likely cause: certificate number ${d.code} at the service is not the certificate given with --certificate. Nothing more was requested from the service.`,
  },
  'too-many-signatures': {
    category: 'usage',
    message: (d: { count: number; limit: number }) =>
      `this run might request ${d.count} signatures, and at most ${d.limit} are allowed; nothing was sent`,
    hint: 'Sign fewer files, or raise --max-signatures (CODESIGN_MAX_SIGNATURES).',
  },
  'budget-exceeded': {
    category: 'usage',
    message: (d: { used: number; budget: number; count: number }) =>
      `${d.used} of this month's budget of ${d.budget} signatures are used, and this run might request ${d.count}; nothing was sent`,
    hint: 'Sign fewer files, or raise --monthly-budget (CODESIGN_MONTHLY_BUDGET). codesign-remote history shows the calls; months are UTC.',
  },
  'just-unanswered': {
    category: 'network',
    message: 'the same signature was requested a moment ago, and no answer came; it may have been made and counted',
    hint: 'Run again for this file: the signature was not requested a second time.',
  },
  'not-attempted': {
    category: 'local',
    message: (d: { reason: string }) => `left as it was, because ${d.reason}`,
    hint: 'Run again for this file: nothing was requested for it.',
  },
  'signature-broken': {
    category: 'local',
    message: (d: { signer: string; problem: string }) => `the signature of "${d.signer}" is broken: ${d.problem}`,
    hint: 'Sign the file again: a timestamp does not repair it.',
  },
  'signer-expired': {
    category: 'local',
    message: (d: { signer: string; date: string }) =>
      `the certificate of "${d.signer}" expired on ${d.date}, and a new timestamp does not prove that the signature is older`,
    hint: 'Sign the file again with a valid certificate. --force adds the timestamp nevertheless.',
  },
  'timestamp-broken': {
    category: 'local',
    message: (d: { signer: string; problem: string }) =>
      `the timestamp of the signature of "${d.signer}" is broken: ${d.problem}`,
    hint: 'Use --force to replace it.',
  },
  'timestamp-irreplaceable': {
    category: 'local',
    message: (d: { signer: string; date: string }) =>
      `the certificate of "${d.signer}" expired on ${d.date}, and the existing timestamp proves that the signature is older; a new one would not`,
    hint: 'Keep the timestamp, or sign the file again with a valid certificate.',
  },
  'timestamp-breaks-signature': {
    category: 'local',
    message: (d: { signer: string; problem: string }) =>
      `with the new timestamp the signature of "${d.signer}" would be broken: ${d.problem}`,
    hint: 'Keep the existing timestamp, or sign the file again.',
  },
  'signature-file-unreadable': {
    category: 'local',
    message: (d: { file: string; reason: string }) => `the signature cannot be read from ${d.file}: ${d.reason}`,
    hint: 'Use a file that this user can read, or - for standard input.',
  },
  'signature-file-too-large': {
    category: 'local',
    message: (d: { file: string; limit: number }) =>
      `${d.file} is longer than any signature: more than ${d.limit} bytes`,
    hint: 'It must hold only a signature, as codesign-remote extract writes it.',
  },
  'signature-file-unusable': {
    category: 'local',
    message: (d: { file: string; problem: string }) => `${d.file} holds no signature that can be used: ${d.problem}`,
    hint: 'It must hold one CMS signature (PKCS#7), DER or PEM, as codesign-remote extract writes it.',
  },
  'service-not-named': {
    category: 'usage',
    message: (d: { origin: string }) => `no service is configured: the signature came from ${d.origin}`,
    hint: 'Set its address with --base-url or CODESIGN_BASE_URL, and the credentials. For files that are still to be written, set the certificate and the timestamp authority too.',
  },
  'other-service': {
    category: 'usage',
    message: (d: { origin: string }) => `the signature came from another service: ${d.origin}`,
    hint: 'Run resume with its address and credentials.',
  },
  'other-credentials': {
    category: 'usage',
    message: 'the signature was requested with another access key',
    hint: 'Run resume with that key: reports are sent only with the key of the signature.',
  },
  'other-certificate': {
    category: 'usage',
    message: (d: { certificate: string }) => `the signature is of another certificate: "${d.certificate}"`,
    hint: 'Use that certificate with --certificate.',
  },
  'changed-since': {
    category: 'local',
    message: 'the file changed after its signature was requested; no new signature was requested',
    hint: 'Sign it again, and drop the call with resume --forget.',
  },
  'no-such-call': {
    category: 'usage',
    message: (d: { id: string }) => `the journal has no unfinished call ${d.id}`,
    hint: 'codesign-remote resume --dry-run lists them with their ids.',
  },
  'call-under-way': {
    category: 'local',
    message: (d: { id: string }) => `a running process is working on call ${d.id}`,
    hint: 'Wait until it has ended.',
  },
});
