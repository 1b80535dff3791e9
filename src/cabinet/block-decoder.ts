export interface BlockDecoder {
  /** Returns `size` unpacked bytes, which stay valid. Throws `file-malformed`. */
  decode(data: Buffer, size: number): Buffer;
  /** Returns a decoder that continues from the same state. */
  copy(): BlockDecoder;
}
