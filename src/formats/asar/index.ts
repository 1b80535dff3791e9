import type { Format } from '../../format/format.ts';

export const asar = {
  id: 'asar',
  title: 'Electron archive (ASAR)',
  extensions: ['.asar'],
  signing: undefined,
  purpose: 'code-signing',
  recognition: { by: 'bytes', claims: claimsHead },
  open: async (source) => (await import('./open-asar.ts')).openAsar(source),
  seemsSigned: async () => false,
} as const satisfies Format;

/** The file begins with two values in Chromium's pickle format: a number, and a JSON text with its length. */
function claimsHead(head: Uint8Array): boolean {
  if (head.length < 20) return false;
  const fields = new DataView(head.buffer, head.byteOffset);
  const [four, pickle, payload, text] = [0, 4, 8, 12].map((at) => fields.getUint32(at, true));
  return four === 4 && pickle === (payload ?? 0) + 4 && (text ?? 0) <= (payload ?? 0) && head[16] === 0x7b;
}
