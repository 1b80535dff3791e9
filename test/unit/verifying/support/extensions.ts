/** Makes names, and extensions of certificates and CRLs, from lines of an OpenSSL configuration. */

import {
  contextConstructed,
  encode,
  nullValue,
  objectIdentifier,
  sequence,
  setOf,
  smallInteger,
} from '../../../../src/asn1/write.ts';
import { extension } from '../../../support/signed-files/hostile-certificates.ts';

/** `keyUsage=critical,digitalSignature`, or `1.2.3=DER:0500` */
export function extensionFrom(line: string): Uint8Array {
  const [, type = '', text = ''] = /^(.*?)=(.*)$/.exec(line) ?? [];
  const [first = '', ...others] = text.split(',');
  const isCritical = first === 'critical';
  const items = isCritical ? others : [first, ...others];
  const [item = ''] = items;
  if (item.startsWith('DER:')) return extension(type, Buffer.from(item.slice(4), 'hex'), isCritical);
  const known = EXTENSIONS[type];
  if (known === undefined) throw new Error(`unknown extension: ${line}`);
  return extension(known.id, known.value(items), isCritical);
}

interface Kind {
  readonly id: string;
  readonly value: (items: readonly string[]) => Uint8Array;
}

const TRUE = Uint8Array.of(0xff);
const pointNames = (names: readonly string[]) =>
  contextConstructed(0, contextConstructed(0, ...names.map(generalName)));

const EXTENSIONS: Readonly<Record<string, Kind>> = {
  basicConstraints: { id: '2.5.29.19', value: (items) => sequence(...items.flatMap(constraint)) },
  keyUsage: { id: '2.5.29.15', value: usageBits },
  extendedKeyUsage: { id: '2.5.29.37', value: (items) => sequence(...items.map(purpose)) },
  subjectAltName: { id: '2.5.29.17', value: (items) => sequence(...items.map(generalName)) },
  nameConstraints: {
    id: '2.5.29.30',
    value: (items) =>
      sequence(
        ...['permitted', 'excluded'].flatMap((kind, tag) => {
          const names = items.flatMap((item) => (item.startsWith(`${kind};`) ? item.slice(kind.length + 1) : []));
          return names.length === 0 ? [] : contextConstructed(tag, ...names.map((name) => sequence(generalName(name))));
        }),
      ),
  },
  crlDistributionPoints: {
    id: '2.5.29.31',
    value: (items) => sequence(...items.map((item) => sequence(pointNames([item])))),
  },
  issuingDistributionPoint: { id: '2.5.29.28', value: (items) => sequence(...items.map(pointMember)) },
  authorityInfoAccess: { id: '1.3.6.1.5.5.7.1.1', value: (items) => sequence(...items.map(access)) },
  noCheck: { id: '1.3.6.1.5.5.7.48.1.5', value: () => nullValue() },
};

function constraint(item: string): Uint8Array[] {
  if (item === 'CA:FALSE') return [];
  return [item === 'CA:TRUE' ? encode(0x01, TRUE) : smallInteger(Number(item.replace('pathlen:', '')))];
}

const USAGES = ['digitalSignature', '', 'keyEncipherment', '', 'keyAgreement', 'keyCertSign', 'cRLSign'];

function usageBits(items: readonly string[]): Uint8Array {
  const last = Math.max(...items.map((item) => USAGES.indexOf(item)));
  const bits = items.reduce((sum, item) => sum | (0x80 >> USAGES.indexOf(item)), 0);
  return encode(0x03, Uint8Array.of(7 - last, bits));
}

const PURPOSES: Readonly<Record<string, string>> = {
  serverAuth: '1.3.6.1.5.5.7.3.1',
  codeSigning: '1.3.6.1.5.5.7.3.3',
  timeStamping: '1.3.6.1.5.5.7.3.8',
  OCSPSigning: '1.3.6.1.5.5.7.3.9',
  anyExtendedKeyUsage: '2.5.29.37.0',
};
const purpose = (item: string) => objectIdentifier(PURPOSES[item] ?? item);

/** `DNS:example.com`, `dirName:/C=DE/O=Acme` */
function generalName(text: string): Uint8Array {
  const at = text.indexOf(':');
  const [kind, value] = [text.slice(0, at), text.slice(at + 1)];
  switch (kind) {
    case 'email':
      return encode(0x81, Buffer.from(value));
    case 'DNS':
      return encode(0x82, Buffer.from(value));
    case 'dirName':
      return encode(0xa4, nameFrom(value));
    case 'URI':
      return encode(0x86, Buffer.from(value));
    case 'IP':
      return encode(0x87, Buffer.from(value.split(/[./]/).map(Number)));
    case 'RID':
      return encode(0x88, objectIdentifier(value).subarray(2));
    default:
      throw new Error(`unknown name: ${text}`);
  }
}

/** `onlyCA`, `fullname:URI:http://a/b` */
function pointMember(item: string): Uint8Array {
  if (item.startsWith('fullname:')) return pointNames([item.slice('fullname:'.length)]);
  if (item === 'onlysomereasons') return encode(0x83, Uint8Array.of(6, 0x40)); // a lost key
  const tag = ['', 'onlyuser', 'onlyCA', '', 'indirectCRL', 'onlyAA'].indexOf(item);
  if (tag < 0) throw new Error(`unknown member: ${item}`);
  return encode(0x80 | tag, TRUE);
}

/** `OCSP;URI:http://example.com` */
function access(item: string): Uint8Array {
  const [method = '', location = ''] = item.split(';');
  return sequence(objectIdentifier(`1.3.6.1.5.5.7.48.${method === 'OCSP' ? 1 : 2}`), generalName(location));
}

const ATTRIBUTES: Readonly<Record<string, readonly [string, number]>> = {
  C: ['2.5.4.6', 0x13],
  O: ['2.5.4.10', 0x0c],
  CN: ['2.5.4.3', 0x0c],
  emailAddress: ['1.2.840.113549.1.9.1', 0x16],
};

/** A common name, or several attributes such as "/C=DE/CN=Name". */
export function nameFrom(text: string): Uint8Array {
  const attributes = text.startsWith('/') ? text.slice(1).split('/') : [`CN=${text}`];
  return sequence(
    ...attributes.map((attribute) => {
      const [type = '', value = ''] = attribute.split('=', 2);
      const [id = '', tag = 0] = ATTRIBUTES[type] ?? [];
      return setOf(sequence(objectIdentifier(id), encode(tag, Buffer.from(value))));
    }),
  );
}
