// Draws what a terminal showed as an SVG that needs nothing next to itself: no script, no font, no link.

const FONT_SIZE = 14;
const CHARACTER = 8.4;
const LINE = 21;
const MARGIN = 22;
const TITLE_BAR = 40;

/** Colours that ECMA-48's SGR names by number, as classes. */
const COLOURS = { 31: 'red', 32: 'green', 33: 'yellow', 36: 'cyan', 39: 'plain', 0: 'plain' };

const STYLE = `
text{font:${FONT_SIZE}px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre}
.window{fill:#f6f8fa;stroke:#d0d7de}.bar{stroke:#d0d7de}.plain{fill:#1f2328}.dim{fill:#656d76}.typed{fill:#0a3069;font-weight:600}
.green{fill:#116329}.red{fill:#b31d28}.yellow{fill:#7d4e00}.cyan{fill:#0a5f75}
@media(prefers-color-scheme:dark){
.window{fill:#0d1117;stroke:#30363d}.bar{stroke:#30363d}.plain{fill:#e6edf3}.dim{fill:#8b949e}.typed{fill:#a5d6ff}
.green{fill:#56d364}.red{fill:#ff7b72}.yellow{fill:#e3b341}.cyan{fill:#76e3ea}}
`;

/** `runs`: what was typed, and the terminal's bytes after it. */
export function drawTerminal(runs, { columns, title, description }) {
  const lines = runs.flatMap(({ typed, output }, index) => [
    ...(index === 0 ? [] : [[]]),
    [
      { text: '$ ', colour: 'dim' },
      { text: typed, colour: 'typed' },
    ],
    ...rowsOf(output, columns),
  ]);
  const width = Math.ceil(columns * CHARACTER + 2 * MARGIN);
  const height = TITLE_BAR + lines.length * LINE + MARGIN + 6;
  const buttons = ['#ff5f57', '#febc2e', '#28c840'].map(
    (fill, index) => `<circle cx="${MARGIN + 6 + index * 20}" cy="20" r="6" fill="${fill}"/>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title description">
<title id="title">${escaped(title)}</title>
<desc id="description">${escaped(description)}</desc>
<style>${STYLE}</style>
<rect class="window" x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="10"/>
<path class="bar" d="M1 ${TITLE_BAR - 0.5}H${width - 1}"/>
${buttons.join('\n')}
${lines.flatMap(drawLine).join('\n')}
</svg>
`;
}

/** As wide as it must be, whatever font is at hand. */
function drawLine(pieces, row) {
  const y = TITLE_BAR + MARGIN + 4 + row * LINE;
  let column = 0;
  return pieces.flatMap(({ text, colour }) => {
    const x = MARGIN + column * CHARACTER;
    column += text.length;
    if (text.trim() === '') return [];
    const place = `x="${rounded(x)}" y="${y}" textLength="${rounded(text.length * CHARACTER)}"`;
    return [`<text class="${colour}" ${place} xml:space="preserve">${escaped(text)}</text>`];
  });
}

/** Rows of pieces of one colour each; longer lines continue in the next row, as a terminal does it. */
function rowsOf(output, columns) {
  const rows = [];
  let colour = 'plain';
  for (const line of output.replaceAll('\r\n', '\n').replace(/\n$/, '').split('\n')) {
    let pieces = [];
    let room = columns;
    rows.push(pieces);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are what a terminal receives
    for (const [piece, code] of line.matchAll(/\x1b\[(\d*)m|[^\x1b]+/g)) {
      if (code !== undefined) colour = colourOf(code);
      else {
        let rest = checked(piece);
        while (rest.length > room) {
          pieces.push({ text: rest.slice(0, room), colour });
          rest = rest.slice(room);
          pieces = [];
          room = columns;
          rows.push(pieces);
        }
        pieces.push({ text: rest, colour });
        room -= rest.length;
      }
    }
  }
  return rows;
}

function colourOf(code) {
  const colour = COLOURS[code || '0'];
  if (colour === undefined) throw new Error(`the picture has no colour for ESC [ ${code}m`);
  return colour;
}

function checked(text) {
  if (/^[ -~]*$/.test(text)) return text;
  throw new Error(`the picture knows neither the width nor the meaning of ${JSON.stringify(text)}`);
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function rounded(length) {
  return Number(length.toFixed(1));
}
