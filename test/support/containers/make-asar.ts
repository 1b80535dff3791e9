/** An ASAR archive with the files, in the form that `@electron/asar` writes. */
export function makeAsar(files: Readonly<Record<string, Uint8Array>>, others: object = {}): Buffer {
  let offset = 0;
  const list = emptyList();
  for (const [path, bytes] of Object.entries(files)) {
    const names = path.split('/');
    let folder = list;
    for (const name of names.slice(0, -1)) {
      const entry = (folder[name] ?? { files: emptyList() }) as { readonly files: Record<string, object> };
      folder[name] = entry;
      folder = entry.files;
    }
    folder[names.at(-1) ?? ''] = { size: bytes.length, offset: String(offset) };
    offset += bytes.length;
  }
  return asarWithList(JSON.stringify({ files: { ...list, ...others } }), Object.values(files));
}

/** Has no names of its own, such as `constructor`. */
function emptyList(): Record<string, object> {
  return Object.create(null);
}

export function asarWithList(list: string, data: readonly Uint8Array[] = []): Buffer {
  const text = Buffer.from(list);
  const padded = Math.ceil(text.length / 4) * 4;
  const head = Buffer.alloc(16 + padded);
  for (const [index, value] of [4, 8 + padded, 4 + padded, text.length].entries()) head.writeUInt32LE(value, index * 4);
  text.copy(head, 16);
  return Buffer.concat([head, ...data]);
}
