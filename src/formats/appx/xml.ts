import { SaxesParser } from 'saxes';
import type { CodesignError } from '../../errors/codesign-error.ts';
import { appxErrors } from './errors.ts';

export interface XmlElement {
  /** Name of the file in the package, for errors. */
  readonly part: string;
  readonly name: string;
  readonly prefix: string;
  readonly depth: number;
  readonly namespace: string;
  /** True if the element has the namespace of the root element. Other elements are extensions. */
  readonly isOwn: boolean;
  readonly attributes: ReadonlyMap<string, string>;
  /** Range of the start tag in the text. */
  readonly tagStart: number;
  readonly tagEnd: number;
}

const DEEPEST = 64;

export function decodeXml(part: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw malformed(part, 'it is not UTF-8');
  }
}

/**
 * Calls `onEnd` with the offset after the element. Throws `appx-malformed` if the text is not XML, or has a document type
 * declaration.
 */
export function readXml(
  part: string,
  text: string,
  onStart: (element: XmlElement) => void,
  onEnd?: (element: XmlElement, end: number) => void,
): void {
  const parser = new SaxesParser({ xmlns: true });
  const open: XmlElement[] = [];
  let namespace = '';
  parser.on('error', ({ message }) => {
    throw malformed(part, message);
  });
  parser.on('doctype', () => {
    throw malformed(part, 'it has a document type declaration');
  });
  parser.on('opentag', ({ local, prefix, uri, attributes }) => {
    if (open.length === 0) namespace = uri;
    if (open.length === DEEPEST) throw malformed(part, 'its elements are nested too deeply');
    const own = new Map<string, string>();
    for (const attribute of Object.values(attributes)) {
      if (attribute.prefix === '') own.set(attribute.local, attribute.value);
    }
    const tagEnd = parser.position;
    const element = {
      part,
      name: local,
      prefix: prefix === '' ? '' : `${prefix}:`,
      depth: open.length + 1,
      namespace: uri,
      isOwn: uri === namespace,
      attributes: own,
      tagStart: text.lastIndexOf('<', tagEnd - 1),
      tagEnd,
    };
    open.push(element);
    onStart(element);
  });
  parser.on('closetag', () => {
    const element = open.pop();
    if (element !== undefined) onEnd?.(element, parser.position);
  });
  parser.write(text).close();
}

export function withAttributes(tag: string, values: Readonly<Record<string, number>>): string {
  const attributes = /([^\s"'=<>/]+)(\s*=\s*)("[^"]*"|'[^']*')/g;
  return tag.replace(attributes, (attribute, name: string, equals: string, [quote = '']: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    return value === undefined ? attribute : `${name}${equals}${quote}${value}${quote}`;
  });
}

export function malformed(part: string, problem: string): CodesignError {
  return appxErrors('appx-malformed', { problem: `${part} cannot be read: ${problem}` });
}

const LONGEST_ATTRIBUTE = 8192;

export function attributeOf({ part, name, attributes }: XmlElement, attribute: string): string {
  const value = attributes.get(attribute);
  if (value === undefined) throw malformed(part, `${name} has no attribute ${attribute}`);
  if (value.length > LONGEST_ATTRIBUTE) {
    throw malformed(part, `the attribute ${attribute} of ${name} has ${value.length} characters`);
  }
  return value;
}

export function numberIn(element: XmlElement, attribute: string): number {
  const text = attributeOf(element, attribute);
  if (!/^\d{1,15}$/.test(text))
    throw malformed(element.part, `the attribute ${attribute} of ${element.name} is not a number: ${text}`);
  return Number(text);
}
