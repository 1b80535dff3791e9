/** Frames after the first GiB are not translated. */
const TRANSLATED = 32_768 * 32_768;
const CALL = 0xe8;
/** The last bytes of a frame are not translated. */
const END = 10;

/** Before compression, the relative address after each byte 0xE8 (a call on x86) became an absolute one. */
export function undoCallTranslation(frame: Buffer, position: number, programSize: number): void {
  if (programSize === 0 || position >= TRANSLATED || frame.length <= END) return;
  const size = programSize | 0;
  for (let at = frame.indexOf(CALL); at >= 0 && at < frame.length - END; at = frame.indexOf(CALL, at + 5)) {
    const absolute = frame.readInt32LE(at + 1);
    const current = position + at;
    if (absolute >= -current && absolute < size) {
      frame.writeInt32LE((absolute >= 0 ? absolute - current : absolute + size) | 0, at + 1);
    }
  }
}
