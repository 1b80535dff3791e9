/**
 * Reads [Content_Types].xml. Windows ignores a signature that [Content_Types].xml does not list (ECMA-376-2, 10.1.2).
 */

import { appxErrors } from './errors.ts';
import { attributeOf, decodeXml, malformed, readXml } from './xml.ts';

const PART = '[Content_Types].xml';
const SIGNATURE_PART = '/AppxSignature.p7x';
const SIGNATURE_TYPE = 'application/vnd.ms-appx.signature';

export interface ContentTypes {
  readonly namesSignature: boolean;
  withSignature(): Uint8Array;
  withoutSignature(): Uint8Array;
}

/** Throws if [Content_Types].xml lists the signature with another type. */
export function readContentTypes(bytes: Uint8Array): ContentTypes {
  const text = decodeXml(PART, bytes);
  const found: { start: number; end: number }[] = [];
  let prefix = '';
  let rootEnd = 0;
  readXml(
    PART,
    text,
    ({ name, depth, ...element }) => {
      if (depth === 1 && name !== 'Types') throw malformed(PART, `its root is ${name}, not Types`);
      if (depth === 1) ({ prefix } = element);
    },
    (element, end) => {
      if (element.depth === 1) rootEnd = text.lastIndexOf('</', end - 1);
      if (element.depth !== 2 || element.name !== 'Override' || !element.isOwn) return;
      if (attributeOf(element, 'PartName').toLowerCase() !== SIGNATURE_PART.toLowerCase()) return;
      const type = attributeOf(element, 'ContentType');
      if (type !== SIGNATURE_TYPE) {
        throw appxErrors('appx-malformed', { problem: `${PART} lists the signature with the type ${type}` });
      }
      found.push({ start: element.tagStart, end });
    },
  );
  if (rootEnd < 0) throw malformed(PART, 'it lists no part');
  return {
    namesSignature: found.length > 0,
    withSignature() {
      const override = `<${prefix}Override PartName="${SIGNATURE_PART}" ContentType="${SIGNATURE_TYPE}"/>`;
      return Buffer.from(text.slice(0, rootEnd) + override + text.slice(rootEnd));
    },
    withoutSignature() {
      let position = 0;
      let kept = '';
      for (const { start, end } of found) {
        kept += text.slice(position, start);
        position = end;
      }
      return Buffer.from(kept + text.slice(position));
    },
  };
}
