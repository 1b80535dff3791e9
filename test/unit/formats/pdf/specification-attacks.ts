/** Attacks on signed documents with what the specification defines beside pages: maps of names, inheritance, counts. */

import { createHash } from 'node:crypto';
import { buildToken, buildTstInfo } from '../../timestamp/support/build-token.ts';
import {
  ANNOTS,
  type Attack,
  attackOn,
  edited,
  FIELDS,
  formWith,
  inCatalog,
  inForm,
  objectOf,
  pageWith,
  stream,
  updated,
} from './attacks.ts';
import { makePdf } from './make-pdf.ts';
import { withResources } from './reader-attacks.ts';

const FIELD = '<< /Type /Annot /Subtype /Widget /FT /Sig /T (Approval) /Rect [0 0 9 9] >>';
const FORM = '/AcroForm << /Fields [5 0 R] >>';
/** Digits that become the offsets of /ByteRange, and those of the value. */
const RANGE = '/ByteRange [0 1111111111 2222222222 3333333333]';
const VALUE = `<${'0'.repeat(8000)}>`;

/** A further signature: object 90, the value of a field that the update also writes. */
function withSignature(
  signed: Buffer,
  objects: Readonly<Record<number, string>>,
  kind = 'ETSI.CAdES.detached',
): Buffer {
  const made = updated({ ...objects, 90: `<< /Type /Sig /SubFilter /${kind} ${RANGE} /Contents ${VALUE} >>` })(signed);
  const start = made.indexOf(VALUE, signed.length);
  const end = start + VALUE.length;
  let result = made;
  for (const [digits, number] of [
    ['1111111111', start],
    ['2222222222', end],
    ['3333333333', made.length - end],
  ] as const) {
    result = edited(result, digits, String(number).padStart(10, ' '));
  }
  const digest = createHash('sha256').update(result.subarray(0, start)).update(result.subarray(end)).digest();
  const token = Buffer.from(buildToken({ info: buildTstInfo(Buffer.alloc(0), { digest }) })).toString('hex');
  return edited(result, VALUE, `<${token.padEnd(VALUE.length - 2, '0')}>`);
}

/** A new field at the end of the form, and its widgets at the end of the page's annotations. */
const withField =
  (field: string, widgets: readonly string[], more: Readonly<Record<number, string>> = {}) =>
  (signed: Buffer): Buffer => {
    const form = formWith(signed, FIELDS, '/Fields [$1 50 0 R]');
    const kids = widgets.map((_, index) => `${51 + index} 0 R`);
    const shown = kids.length === 0 ? '50 0 R' : kids.join(' ');
    const page = pageWith(signed, ANNOTS, `/Annots [$1 ${shown}]`);
    const list = kids.length === 0 ? '' : `/Kids [${kids.join(' ')}]`;
    const objects = Object.fromEntries(widgets.map((widget, index) => [51 + index, widget]));
    return updated({ ...form, 3: page, 50: field.replace(/>>$/, `${list} >>`), ...objects, ...more })(signed);
  };

const KID = '<< /Type /Annot /Subtype /Widget /Rect [0 0 0 0] /Parent 50 0 R >>';

const made = attackOn(makePdf());

export const SPECIFICATION_ATTACKS: readonly Attack[] = [
  ...['Font', 'Properties'].map((kind) => ({
    name: `an empty signature field that is also the resources of a page: /${kind}`,
    original: withResources(makePdf({ catalog: FORM, objects: [FIELD] }), `<< /${kind} 5 0 R >>`),
    attack: (signed: Buffer) => withSignature(signed, { 5: FIELD.replace('>>', '/MK << /A 1 >> /V 90 0 R >>') }),
  })),
  made(
    'a checkbox among the widgets of an empty signature field',
    (signed) =>
      withSignature(signed, {
        5: '<< /FT /Sig /T (Approval) /Kids [6 0 R 7 0 R] /V 90 0 R >>',
        7: objectOf(signed, 7).replace('/Off', '/Yes'),
      }),
    {
      original: makePdf({
        catalog: FORM,
        page: '/Annots [6 0 R 7 0 R]',
        objects: [
          '<< /FT /Sig /T (Approval) /Kids [6 0 R 7 0 R] >>',
          '<< /Type /Annot /Subtype /Widget /Rect [0 0 9 9] /Parent 5 0 R >>',
          '<< /Type /Annot /Subtype /Widget /FT /Btn /AS /Off /AP << /N << /Yes 4 0 R >> >> /Rect [0 0 9 9] /Parent 5 0 R >>',
        ],
      }),
    },
  ),
  made(
    'a document timestamp, which anyone gets, with an appearance, in a field that is there',
    (signed) =>
      withSignature(
        signed,
        { 5: FIELD.replace('>>', '/AP << /N 91 0 R >> /V 90 0 R >>'), 91: stream('Forged') },
        'ETSI.RFC3161',
      ),
    { original: makePdf({ catalog: FORM, page: '/Annots [5 0 R]', objects: [FIELD] }), certify: 'no-changes' },
  ),
  made(
    'a new field that is visible by references to numbers',
    (signed) =>
      withSignature(
        withField(
          FIELD.replace('(Approval)', '(x) /V 90 0 R').replace('[0 0 9 9]', '[60 0 R 61 0 R 62 0 R 63 0 R]'),
          [],
          { 60: '0', 61: '0', 62: '300', 63: '200' },
        )(signed),
        {},
        'ETSI.RFC3161',
      ),
    { certify: 'no-changes' },
  ),
  made(
    'a new field that is a comment, by a reference to its kind',
    withField(FIELD.replace('/Widget', '60 0 R').replace('[0 0 9 9]', '[0 0 0 0] /Contents (Forged)'), [], {
      60: '/Text',
    }),
  ),
  made(
    'a new field that has an action of its own, and a widget',
    withField('<< /FT /Sig /T (x) /AA << /PO << /S /JavaScript /JS (x) >> >> >>', [KID]),
  ),
  made(
    'a new widget below another field, which has an action',
    withField('<< /FT /Sig /T (x) >>', [KID.replace('50', '60')], {
      60: '<< /FT /Tx /T (y) /AA << /PO << /S /JavaScript /JS (x) >> >> >>',
    }),
  ),
  made('a count of objects below those of the document', (signed) =>
    edited(updated({ 2: objectOf(signed, 2) })(signed), /\/Size 100(?=[^/]*\/Root.*$)/s, '/Size 4'),
  ),
  made(
    'other defaults of a form for a text field that the form does not name',
    inForm('/Fields', '/DA (/F1 9 Tf 1 g) /Fields'),
    {
      original: makePdf({
        catalog: '/AcroForm << /Fields [] >>',
        page: '/Annots [5 0 R]',
        objects: ['<< /Type /Annot /Subtype /Widget /FT /Tx /T (Sum) /V (1) /Rect [0 0 9 9] >>'],
      }),
    },
  ),
  made(
    'another entry of the catalog',
    inCatalog('/Pages', '/Names << /JavaScript << /Names [(x) 50 0 R] >> >> /Pages', {
      50: '<< /S /JavaScript /JS (x) >>',
    }),
    { certify: 'comments' },
  ),
];
