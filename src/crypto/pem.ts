/** RFC 7468, section 2, requires lines of this length. */
const PEM_LINE_LENGTH = 64;

export function pem(label: string, der: Uint8Array): string {
  const base64 = Buffer.from(der).toString('base64');
  const lines = base64.match(new RegExp(`.{1,${PEM_LINE_LENGTH}}`, 'g')) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
}
