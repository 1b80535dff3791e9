/** Attacks on signed documents with what the specification defines beside pages: maps of names, inheritance, counts. */

import { createHash } from 'node:crypto';
import { buildToken, buildTstInfo } from '../../timestamp/support/build-token.ts';
import {
  ANNOTS,
  type Attack,
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

type SpecificationAttack = Pick<Attack, 'name' | 'original' | 'attack' | 'certify' | 'code' | 'weight' | 'where'>;

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

export const SPECIFICATION_ATTACKS: readonly SpecificationAttack[] = [
  ...['Font', 'ExtGState', 'Pattern', 'Properties', 'Shading'].map((kind) => ({
    name: `an empty signature field that is also the resources of a page: /${kind}`,
    original: withResources(makePdf({ catalog: FORM, objects: [FIELD] }), `<< /${kind} 5 0 R >>`),
    attack: (signed: Buffer) => withSignature(signed, { 5: FIELD.replace('>>', '/MK << /A 1 >> /V 90 0 R >>') }),
  })),
  {
    name: 'an empty signature field that is also the destinations of the document',
    original: makePdf({ catalog: `${FORM} /Dests 5 0 R`, objects: [FIELD] }),
    attack: (signed) => withSignature(signed, { 5: FIELD.replace('>>', '/MK << /D [3 0 R /Fit] >> /V 90 0 R >>') }),
  },
  {
    name: 'a checkbox among the widgets of an empty signature field',
    original: makePdf({
      catalog: FORM,
      page: '/Annots [6 0 R 7 0 R]',
      objects: [
        '<< /FT /Sig /T (Approval) /Kids [6 0 R 7 0 R] >>',
        '<< /Type /Annot /Subtype /Widget /Rect [0 0 9 9] /Parent 5 0 R >>',
        '<< /Type /Annot /Subtype /Widget /FT /Btn /AS /Off /AP << /N << /Yes 4 0 R >> >> /Rect [0 0 9 9] /Parent 5 0 R >>',
      ],
    }),
    attack: (signed) =>
      withSignature(signed, {
        5: '<< /FT /Sig /T (Approval) /Kids [6 0 R 7 0 R] /V 90 0 R >>',
        7: objectOf(signed, 7).replace('/Off', '/Yes'),
      }),
  },
  {
    name: 'a document timestamp, which anyone gets, with an appearance, in a field that is there',
    original: makePdf({ catalog: FORM, page: '/Annots [5 0 R]', objects: [FIELD] }),
    certify: 'no-changes',
    attack: (signed) =>
      withSignature(
        signed,
        { 5: FIELD.replace('>>', '/AP << /N 91 0 R >> /V 90 0 R >>'), 91: stream('Forged') },
        'ETSI.RFC3161',
      ),
  },
  {
    name: 'a new field that is visible by references to numbers',
    original: makePdf(),
    certify: 'no-changes',
    attack: (signed) =>
      withSignature(
        withField(
          FIELD.replace('(Approval)', '(x) /V 90 0 R').replace('[0 0 9 9]', '[60 0 R 61 0 R 62 0 R 63 0 R]'),
          [],
          { 60: '0', 61: '0', 62: '300', 63: '200' },
        )(signed),
        {},
        'ETSI.RFC3161',
      ),
  },
  {
    name: 'a new field that is a comment, by a reference to its kind',
    original: makePdf(),
    attack: withField(FIELD.replace('/Widget', '60 0 R').replace('[0 0 9 9]', '[0 0 0 0] /Contents (Forged)'), [], {
      60: '/Text',
    }),
  },
  {
    name: 'a new field that has an action of its own, and a widget',
    original: makePdf(),
    attack: withField('<< /FT /Sig /T (x) /AA << /PO << /S /JavaScript /JS (x) >> >> >>', [KID]),
  },
  {
    name: 'a new widget below another field, which has an action',
    original: makePdf(),
    attack: withField('<< /FT /Sig /T (x) >>', [KID.replace('50', '60')], {
      60: '<< /FT /Tx /T (y) /AA << /PO << /S /JavaScript /JS (x) >> >> >>',
    }),
  },
  {
    name: 'the size of a function as real numbers, which poppler does not take',
    original: makePdf({ page: '/X 5 0 R', objects: ['<< /FunctionType 0 /Size [2 2] >>'] }),
    attack: updated({ 5: '<< /FunctionType 0 /Size [2.0 2.0] >>' }),
  },
  {
    name: 'a count of objects below those of the document',
    original: makePdf(),
    attack: (signed) => edited(updated({ 2: objectOf(signed, 2) })(signed), /\/Size 100(?=[^/]*\/Root.*$)/s, '/Size 4'),
  },
  {
    name: 'other defaults of a form for a text field that the form does not name',
    original: makePdf({
      catalog: '/AcroForm << /Fields [] >>',
      page: '/Annots [5 0 R]',
      objects: ['<< /Type /Annot /Subtype /Widget /FT /Tx /T (Sum) /V (1) /Rect [0 0 9 9] >>'],
    }),
    attack: inForm('/Fields', '/DA (/F1 9 Tf 1 g) /Fields'),
  },
  {
    name: 'a resource that pages inherit',
    original: makePdf({ pages: '5 0 R', objects: ['<< /Type /Pages /Kids [2 0 R] /Count 1 /Rotate 0 >>'] }),
    attack: updated({ 5: '<< /Type /Pages /Kids [2 0 R] /Count 1 /Rotate 180 >>' }),
  },
  ...[
    '/Names << /JavaScript << /Names [(x) 50 0 R] >> >>',
    '/Collection << /View /T >>',
    '/OCProperties << /OCGs [50 0 R] /D << /OFF [50 0 R] >> >>',
    '/PageLabels << /Nums [0 50 0 R] >>',
    '/ViewerPreferences << /Direction /R2L >>',
    '/AF [50 0 R]',
  ].map((entry) => ({
    name: `another entry of the catalog: ${entry}`,
    original: makePdf(),
    certify: 'comments',
    attack: inCatalog('/Pages', `${entry} /Pages`, { 50: '<< /S /JavaScript /JS (x) >>' }),
  })),
];
