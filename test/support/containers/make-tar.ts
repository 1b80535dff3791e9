export interface TarPart {
  readonly name: string;
  readonly content?: Uint8Array;
  readonly type?: string;
  /** In the header, in place of the length of the content. */
  readonly size?: number;
}

export const TAR_END = Buffer.alloc(1024);

/** ustar headers with their data. The blocks that mark the end are added, unless `isOpen`. */
export function makeTar(parts: readonly TarPart[], isOpen = false): Buffer {
  const blocks = parts.flatMap(({ name, content = Buffer.alloc(0), type = '0', size = content.length }) => [
    tarHeader(name, type, size),
    content,
    Buffer.alloc((512 - (content.length % 512)) % 512),
  ]);
  return Buffer.concat([...blocks, ...(isOpen ? [] : [TAR_END])]);
}

function tarHeader(name: string, type: string, size: number): Buffer {
  const header = Buffer.alloc(512);
  header.write(name, 0, 100);
  header.write('0000644\0', 100);
  header.write(`${size.toString(8).padStart(11, '0')}\0`, 124);
  header.write('        ', 148);
  header.write(type, 156);
  header.write('ustar\x0000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}

/** A record of a pax header: its length includes itself. */
export function paxRecord(key: string, value: string): Buffer {
  const rest = ` ${key}=${value}\n`;
  let length = Buffer.byteLength(rest);
  while (Buffer.byteLength(`${length}${rest}`) !== length) length = Buffer.byteLength(`${length}${rest}`);
  return Buffer.from(`${length}${rest}`);
}
