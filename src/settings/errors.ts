/** What can be wrong with options, environment and credentials: all of it found before anything is sent. */

import { defineErrors } from '../errors/define-errors.ts';

export const settingsErrors = defineErrors({
  'base-url-invalid': {
    category: 'usage',
    // Never the address itself: what is wrong with it may be a password.
    message: (d) => `${d.name} is no usable service address: ${d.problem}`,
    hint: 'Write it as https://host[:port][/path], without user name, query or fragment.',
  },
  'base-url-insecure': {
    category: 'usage',
    message: (d) => `${d.name} would send the credentials to ${d.host} without TLS`,
    hint: 'Use https:. Plain http: is allowed to this machine only (localhost, 127.0.0.0/8, ::1).',
  },
  'base-url-holds-credentials': {
    category: 'usage',
    message: (d) => `${d.name} holds a user name or password`,
    hint: 'Take it out of the address, and set CODESIGN_ACCESS_KEY and CODESIGN_ACCESS_SECRET instead.',
  },
  'credentials-missing': {
    category: 'usage',
    message: (d) => `no credentials for the service: ${d.missing} not set`,
    hint: 'Set CODESIGN_ACCESS_KEY, and with it CODESIGN_ACCESS_SECRET or CODESIGN_ACCESS_SECRET_FILE.',
  },
  'credentials-ambiguous': {
    category: 'usage',
    message: 'both CODESIGN_ACCESS_SECRET and CODESIGN_ACCESS_SECRET_FILE are set',
    hint: 'Unset one of them.',
  },
  'access-key-invalid': {
    category: 'usage',
    message: (d) => `CODESIGN_ACCESS_KEY ${d.problem}`,
    hint: 'HTTP Basic authentication ends the key at the first colon. Check that key and secret were not pasted together.',
  },
  'access-secret-invalid': {
    category: 'usage',
    message: (d) => `${d.source} ${d.problem}`,
    hint: 'It must hold the access secret on one line, and nothing else.',
  },
  'secret-file-unreadable': {
    category: 'usage',
    message: (d) => `${d.variable}: ${d.path} cannot be read (${d.reason})`,
    hint: 'Name a file that this user may read.',
  },
  'secret-file-exposed': {
    category: 'usage',
    message: (d) => `${d.variable}: ${d.path} ${d.problem}`,
    hint: 'Whoever can write it chooses the secret. Make it yours alone: chmod 600.',
  },
  'setting-missing': {
    category: 'usage',
    message: (d) => `${d.what} is not given`,
    hint: (d) => `Give it with ${d.option}, or set ${d.variable}.`,
  },
  'invalid-setting': {
    category: 'usage',
    message: (d) => (d.value === '' ? `${d.name} is empty` : `${d.name}: "${d.value}" is not ${d.expected}`),
    hint: (d) => `Give ${d.expected}.`,
  },
  'timestamp-url-holds-credentials': {
    category: 'usage',
    message: (d) => `${d.name} holds a user name or password`,
    hint: 'Give the address without them: it would end up in logs.',
  },
  'settings-conflict': {
    category: 'usage',
    message: (d) => `${d.options} exclude one another`,
    hint: 'Give one of them.',
  },
  'certificate-file-missing': {
    category: 'local',
    message: (d) => `the certificate file ${d.path} cannot be read: ${d.reason}`,
    hint: 'Check --certificate or CODESIGN_CERTIFICATE: a path on this machine, which this user may read.',
  },
});
