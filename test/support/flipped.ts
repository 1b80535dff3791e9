/** A copy with the lowest bit at this offset changed. A negative offset counts from the end. */
export function flipped(bytes: Uint8Array, offset: number): Buffer {
  const copy = Buffer.from(bytes);
  const at = offset < 0 ? copy.length + offset : offset;
  copy.writeUInt8(copy.readUInt8(at) ^ 1, at);
  return copy;
}
