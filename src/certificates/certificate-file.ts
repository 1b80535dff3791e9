/** A file that certificates are read from: types only. */

export interface CertificateFile {
  /** How messages name it. */
  readonly name: string;
  readonly bytes: Uint8Array;
}
