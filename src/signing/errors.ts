import { defineErrors, defineWarnings } from '../errors/define-errors.ts';
import { plural } from '../errors/plural.ts';

interface Mismatch {
  readonly code: string;
  readonly certificate: string;
  readonly fingerprint: string;
  /** Journal ids, separated by spaces, of the calls whose signatures do not verify; empty if there is no journal. */
  readonly ids: string;
  readonly isKnown: boolean;
  readonly why: string;
}

const afterChange = ({ ids }: Mismatch): string =>
  ids === ''
    ? ''
    : ` If the operator has changed the key since, run codesign-remote resume --forget ${ids}, and sign again.`;

export const signingErrors = defineErrors('local', {
  'read-only-file': {
    message: '{file} is read-only',
    hint: 'Make the file writable first (chmod u+w, attrib -r), or write the result elsewhere with --output.',
  },
  'file-changed': {
    message: 'the file changed during the run; nothing was written to it',
    hint: 'Run the command again after the program that writes to the file has finished.',
  },
  'catalog-member-changes': {
    category: 'usage',
    message: '{path} is listed in the catalog {catalog}, and this run would change both; nothing was sent',
    hint: 'Sign the files first, in a separate run. Create the catalog from the signed files, and sign the catalog last.',
  },
  'copy-changed': {
    message: 'another program changed, replaced or removed the temporary file',
    hint: 'Find the program that changed the file, such as a virus scanner, and configure it to ignore the folder. Files that were not replaced yet are unchanged.',
  },
  'folder-replaced': {
    message:
      'the folder {folder} or one of its parent folders was replaced by a link during the run; nothing was written there',
    hint: 'Find out who created the link. If you created the link, run the command again.',
  },
  'output-conflict': {
    message: 'the result would be written to {target}, which is the path of another file in this run',
    hint: 'Sign the two files in separate runs, with different --output folders.',
  },
  'unusable-name': {
    message: 'the result cannot be written to {path}: {problem}',
    hint: 'Choose a different name for the output file with --output.',
  },
  'not-replaceable': {
    message: '{file} cannot be replaced: {reason}',
    hint: 'Use --output with another path. Signing writes a new file, and then renames the new file to the target.',
  },
  'output-blocked': {
    message: 'the result cannot be written to {path}: {blockedBy} is not a folder',
    hint: 'Choose a different path with --output.',
  },
  'signature-mismatch': {
    message: (d: Mismatch) =>
      d.isKnown
        ? `the journal contains a signature made with certificate number ${d.code} that does not verify with the certificate "${d.certificate}"; nothing was requested`
        : `the service's signature does not verify with the certificate "${d.certificate}"${d.why}`,
    hint: (d: Mismatch) =>
      `Check --code and --certificate. The key with number ${d.code} at the service is not the key of the certificate "${d.certificate}" (SHA-256: ${d.fingerprint}). No other signature was requested.${afterChange(d)}`,
  },
  'too-many-signatures': {
    category: 'usage',
    message: (d: { readonly count: number; readonly limit: number }) =>
      `this run might request ${plural(d.count, 'signature')}, more than the limit of ${d.limit}; nothing was sent`,
    hint: 'Sign fewer files, or raise --max-signatures (CODESIGN_MAX_SIGNATURES).',
  },
  'audit-log-conflict': {
    category: 'usage',
    message: 'the audit log {path} is also an input or output file in this run; nothing was sent',
    hint: 'Set --audit-log (or CODESIGN_AUDIT_LOG) to a different file.',
  },
  'option-unused': {
    category: 'usage',
    message: '{option} affects no file in this run; the option applies to: {files}',
    hint: 'Omit the option, or add files to which it applies.',
  },
  'not-attempted': {
    message: 'not tried, because {reason}',
    hint: 'Run the command again for this file. No request was sent for this file.',
  },
  'signature-broken': {
    message: 'the signature of "{signer}" is broken: {problem}',
    hint: 'Sign the file again. A timestamp cannot repair the signature.',
  },
  'signer-expired': {
    message:
      'the certificate of "{signer}" expired on {date}, and a new timestamp cannot prove that the signature was made before then',
    hint: 'Sign the file again with a valid certificate. Use --force to add the timestamp anyway.',
  },
  'timestamp-broken': {
    message: 'the timestamp on the signature by "{signer}" is invalid: {problem}',
    hint: 'Use --force to replace the timestamp.',
  },
  'timestamp-irreplaceable': {
    message:
      'the certificate of "{signer}" expired on {date}, and only the existing timestamp proves that the signature was made before then',
    hint: 'Keep the timestamp, or sign the file again with a valid certificate.',
  },
  'timestamp-breaks-signature': {
    message: 'the new timestamp would break the signature of "{signer}": {problem}',
    hint: 'Keep the existing timestamp, or sign the file again.',
  },
  'signature-file-unreadable': {
    message: 'the signature cannot be read from {file}: {reason}',
    hint: 'Use a file that the current user can read, or - for standard input.',
  },
  'signature-file-too-large': {
    message: '{file} is too large for a signature: it has more than {limit} bytes',
    hint: 'Use a file that contains only a signature, such as the output of codesign-remote extract.',
  },
  'signature-file-unusable': {
    message: '{file} contains no usable signature: {problem}',
    hint: 'Use a file with one CMS signature (PKCS#7) in DER or PEM format, such as the output of codesign-remote extract.',
  },
  'service-not-named': {
    category: 'usage',
    message: 'the service at {origin} made the signature, but no service address is configured',
    hint: 'Set the service address with --base-url or CODESIGN_BASE_URL, and configure the credentials. If files still have to be written, configure the certificate and the timestamp authority too.',
  },
  'other-service': {
    category: 'usage',
    message: 'another service made the signature: {origin}',
    hint: 'Run resume with the address and credentials of the service that made the signature.',
  },
  'other-credentials': {
    category: 'usage',
    message: 'the signature was requested with another access key',
    hint: 'Run resume with the access key that requested the signature, because reports are sent only with that key.',
  },
  'other-certificate': {
    category: 'usage',
    message: 'the signature was made with another certificate: "{certificate}"',
    hint: 'Set --certificate to the certificate with which the signature was made.',
  },
  'changed-since': {
    message: 'the file changed after its signature was requested; no new signature was requested',
    hint: 'Sign the file again, and discard the call with resume --forget.',
  },
  'signatures-missing': {
    message: 'the file has changed, or needs signatures that were never requested; no new signature was requested',
    hint: 'Sign the file again with the same options. Signatures in the journal are not requested again.',
  },
  'no-such-call': {
    category: 'usage',
    message: 'the journal has no unfinished call {id}',
    hint: 'Run codesign-remote resume --dry-run to list unfinished calls with their ids.',
  },
  'call-under-way': {
    message: 'a running process is working on call {id}',
    hint: 'Wait until the other process has ended.',
  },
});

export const signingWarnings = defineWarnings({
  'hard-links': 'the file has {count} hard links: only this path gets the new file, the others keep the old content',
  'call-unknown': 'an earlier call for this signature may have been counted: its outcome is unknown (journal {id})',
  'request-repeated':
    'a request with an unknown outcome was sent once more (--repeat-unknown), and the signature may have been counted twice: {reason}',
  'journal-not-written': 'the journal could not be written: {reason}',
  'folder-not-flushed': 'the folder could not be flushed to the disk ({reason})',
  'forgotten-not-reported': 'call {id} is forgotten, but this could not be reported to the service: {reason}',
  'mismatch-forgotten':
    'the mismatch of call {id} is forgotten: sign requests signatures for its number and certificate again',
  'journal-off':
    'without a journal, a signature that cannot be used immediately is lost: the next run requests and pays for it again',
  'timestamp-not-configured':
    'the signatures get no timestamp, so they expire with the certificate on {date}: set an authority with --timestamp-url, or use --no-timestamp',
  'listener-failed': 'the listener for events failed: {reason}',
});
