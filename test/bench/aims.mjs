// Every aim with what the last kept run of its part measured, as a table and as a chart: made again by each `npm run bench -- --write`.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { table } from './measure.mjs';

const MEBIBYTE = 1024 * 1024;

const ours = (of) => of['codesign-remote'];
const overInterpreter = (name) => (results) => results[name]?.median - results['node -e 0'].median;
const toPeer = (file, peer) => (results) => ours(results[file]).median / results[file][peer].median;
const highest = (results) => Math.max(...Object.values(results).map((of) => ours(of).peak)) / MEBIBYTE;

const leastShare = ({ device }) =>
  100 *
  Math.min(
    ...Object.values(device).flatMap(({ bare, SQLite, PostgreSQL }) =>
      [SQLite, PostgreSQL].map(({ median }) => median / bare.median),
    ),
  );
const mostGrowth = (results) => Math.max(...Object.values(results).map(({ growth }) => growth.median)) / MEBIBYTE;

/** `most`, or `least`: what is aimed at, in `unit`. `of`: what was measured, out of the results of its part. */
const AIMS = [
  { part: 'startup', what: '--version, over the interpreter', most: 10, unit: 'ms', of: overInterpreter('--version') },
  { part: 'startup', what: '--help, over the interpreter', most: 15, unit: 'ms', of: overInterpreter('--help') },
  {
    part: 'startup',
    what: 'a small file signed, over it',
    most: 160,
    unit: 'ms',
    of: overInterpreter('sign small.exe'),
  },
  { part: 'pe', what: 'PE of 100 MB, of osslsigncode', most: 1.5, unit: '×', of: toPeer('100 MB', 'osslsigncode') },
  { part: 'pe', what: 'PE of 500 MB, of osslsigncode', most: 0.8, unit: '×', of: toPeer('500 MB', 'osslsigncode') },
  { part: 'pe', what: 'PE of any size, memory', most: 100, unit: 'MiB', of: highest },
  {
    part: 'msix',
    what: 'MSIX of 100 MB, of our PE',
    most: 1.3,
    unit: '×',
    of: toPeer('100 MB', 'codesign-remote, PE'),
  },
  { part: 'msix', what: 'MSIX of 100 MB, memory', most: 100, unit: 'MiB', of: highest },
  {
    part: 'jar',
    what: 'JAR of 240 MB, of jarsigner',
    most: 0.25,
    unit: '×',
    of: toPeer('240 MB, 20,000 entries', 'jarsigner'),
  },
  {
    part: 'jar',
    what: 'JAR of 14.6 MB (compiler.jar), of jarsigner',
    most: 0.25,
    unit: '×',
    of: toPeer('compiler.jar, 14.6 MB, 7,227 entries', 'jarsigner'),
  },
  {
    part: 'jar',
    what: 'JAR of 100,000 entries, of jarsigner',
    most: 0.25,
    unit: '×',
    of: toPeer('45 MB, 100,000 entries', 'jarsigner'),
  },
  { part: 'jar', what: 'JAR of any size, memory', most: 200, unit: 'MiB', of: highest },
  {
    part: 'verify',
    what: 'PE of 500 MB verified, of osslsigncode',
    most: 1,
    unit: '×',
    of: toPeer('PE, 500 MB', 'osslsigncode'),
  },
  {
    part: 'verify',
    what: 'JAR of 240 MB verified, of jarsigner',
    most: 0.25,
    unit: '×',
    of: toPeer('JAR, 240 MB, 20,000 entries', 'jarsigner'),
  },
  {
    part: 'containers',
    what: 'MSI of 100 MB, of osslsigncode',
    most: 1.5,
    unit: '×',
    of: toPeer('MSI, version 3', 'osslsigncode'),
  },
  {
    part: 'batch',
    what: '200 files, 50 ms each, 16 at once, of the waits',
    most: 1.5,
    unit: '×',
    of: ({ slow }) => slow.ratio,
  },
  {
    part: 'batch',
    what: '1,000 files, no wait',
    least: 250,
    unit: 'files/s',
    of: ({ fast }) => fast['stand-in, RSA-2048'].perSecond,
  },
  {
    part: 'batch',
    what: '10,000 files, memory over that of 100',
    most: 60,
    unit: 'MiB',
    of: ({ many }) => (many[10_000].peak - many[100].peak) / MEBIBYTE,
  },
  {
    part: 'batch',
    what: '10,000 files, time of each, of one of 1,000',
    most: 1.2,
    unit: '×',
    of: ({ many }) => many[10_000].milliseconds / many[1000].milliseconds / 10,
  },
  { part: 'server', what: 'server, least of six shares of a device', least: 95, unit: '%', of: leastShare },
  { part: 'memory', what: 'server, memory of 99,000 signatures', most: 0, unit: 'MiB', of: mostGrowth },
];

const NUMBER = { ms: 0, '×': 2, MiB: 0, 'files/s': 0, '%': 0 };

/** Where a part has not been kept, its aims are left out. */
function measured() {
  return AIMS.flatMap((aim) => {
    const path = new URL(`results/${aim.part}.json`, import.meta.url);
    if (!existsSync(path)) return [];
    const value = aim.of(JSON.parse(readFileSync(path, 'utf8')));
    if (!Number.isFinite(value)) return [];
    const share = shareOf(aim, value);
    const inWords = (number) => `${number.toFixed(NUMBER[aim.unit])} ${aim.unit}`;
    const wanted = aim.most === undefined ? `at least ${aim.least} ${aim.unit}` : `at most ${aim.most} ${aim.unit}`;
    return [{ ...aim, share: Math.max(0, share), wanted, found: inWords(value), isMet: share <= 1 }];
  });
}

/** Of nothing, what is more than half a unit is too much. */
function shareOf({ most, least }, value) {
  if (most === undefined) return least / value;
  return most === 0 ? 1 + Math.trunc(value + 0.5) : value / most;
}

/** Draws the chart. @returns the table. */
export function drawAims() {
  const aims = measured();
  writeFileSync(new URL('aims.svg', import.meta.url), chart(aims));
  const rows = aims.map(({ part, what, wanted, found, share, isMet }) => {
    return [what, wanted, found, `${share.toFixed(2)}${isMet ? '' : ', **missed**'}`, part];
  });
  return table(['what', 'aim', 'measured', 'of what is allowed', 'part'], rows);
}

const [LABELS, BAR, FIGURES, ROW, HEAD] = [330, 300, 150, 24, 40];
/** What is allowed stands at half of the bar; what takes more than twice as much ends there. */
const MOST_SHARE = 2;

const STYLE = `
text{font:12px ui-sans-serif,system-ui,'DejaVu Sans',sans-serif;fill:#1f2328}.dim{fill:#656d76}
.met{fill:#2da44e}.missed{fill:#cf222e}.aim{stroke:#1f2328;stroke-dasharray:3 3}.back{fill:#ffffff}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.dim{fill:#8b949e}.met{fill:#3fb950}.missed{fill:#f85149}.aim{stroke:#e6edf3}.back{fill:#0d1117}}
`;

function chart(aims) {
  const [width, height] = [LABELS + BAR + FIGURES, HEAD + aims.length * ROW + 12];
  const aim = LABELS + BAR / MOST_SHARE;
  const bars = aims.map(({ what, share, found, isMet }, index) => {
    const y = HEAD + index * ROW;
    const length = (Math.min(share, MOST_SHARE) / MOST_SHARE) * BAR;
    return [
      `<text x="${LABELS - 10}" y="${y + 15}" text-anchor="end">${escaped(what)}</text>`,
      `<rect class="${isMet ? 'met' : 'missed'}" x="${LABELS}" y="${y + 4}" width="${length.toFixed(1)}" height="15" rx="2"/>`,
      `<text class="dim" x="${LABELS + BAR + 8}" y="${y + 15}">${escaped(found)} (${share.toFixed(2)})</text>`,
    ].join('\n');
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title">
<title id="title">What was measured, of what is allowed</title>
<style>${STYLE}</style>
<rect class="back" width="${width}" height="${height}"/>
<text class="dim" x="${aim}" y="18" text-anchor="middle">the aim: left of it is better</text>
${bars.join('\n')}
<path class="aim" d="M${aim} 26V${height - 8}"/>
</svg>
`;
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
