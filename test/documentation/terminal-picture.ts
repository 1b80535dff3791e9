/** Draws what a terminal showed as an SVG that needs nothing next to itself: no script, no font, no link. */

const TITLE = 'codesign-remote at work in a terminal';
const DESCRIPTION =
  'A program, a Java archive, a NuGet package, a cabinet and a PowerShell script are signed with a timestamp, ' +
  'each by one call to the service; verify finds all of them intact and trusted.';

const FONT_SIZE = 14;
const CHARACTER = 8.4;
const LINE = 21;
const MARGIN = 22;
const TITLE_BAR = 40;

const STYLE = `
text{font:${FONT_SIZE}px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre}
.window{fill:#f6f8fa;stroke:#d0d7de}.bar{stroke:#d0d7de}.plain{fill:#1f2328}.dim{fill:#656d76}.typed{fill:#0a3069;font-weight:600}
.green{fill:#116329}.red{fill:#b31d28}.yellow{fill:#7d4e00}.cyan{fill:#0a5f75}
@media(prefers-color-scheme:dark){
.window{fill:#0d1117;stroke:#30363d}.bar{stroke:#30363d}.plain{fill:#e6edf3}.dim{fill:#8b949e}.typed{fill:#a5d6ff}
.green{fill:#56d364}.red{fill:#ff7b72}.yellow{fill:#e3b341}.cyan{fill:#76e3ea}}
`;

/** `screen`: its lines, with names of colours as `runOnPty` gives them. */
export function drawTerminal(runs: readonly { readonly typed: string; readonly screen: string }[], columns: number) {
  const lines = runs.flatMap(({ typed, screen }, index) => [
    ...(index === 0 ? [] : ['']),
    `{dim}$ {/}{typed}${typed}{/}`,
    ...screen.trimEnd().split('\n'),
  ]);
  const width = Math.ceil(columns * CHARACTER + 2 * MARGIN);
  const height = TITLE_BAR + lines.length * LINE + MARGIN + 6;
  const buttons = ['#ff5f57', '#febc2e', '#28c840'].map(
    (fill, index) => `<circle cx="${MARGIN + 6 + index * 20}" cy="20" r="6" fill="${fill}"/>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title description">
<title id="title">${TITLE}</title>
<desc id="description">${DESCRIPTION}</desc>
<style>${STYLE}</style>
<rect class="window" x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="10"/>
<path class="bar" d="M1 ${TITLE_BAR - 0.5}H${width - 1}"/>
${buttons.join('\n')}
${lines.flatMap(drawLine).join('\n')}
</svg>
`;
}

/** Each text has a fixed width, which does not depend on the font. */
function drawLine(line: string, row: number): readonly string[] {
  const y = TITLE_BAR + MARGIN + 4 + row * LINE;
  let column = 0;
  return Array.from(line.matchAll(/(?:\{(\w+)\})?([^{]+)(?:\{\/\})?/g), ([, colour = 'plain', text = '']) => {
    const x = rounded(MARGIN + column * CHARACTER);
    column += text.length;
    const place = `x="${x}" y="${y}" textLength="${rounded(text.length * CHARACTER)}"`;
    return `<text class="${colour}" ${place} xml:space="preserve">${escaped(text)}</text>`;
  });
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function rounded(length: number): number {
  return Number(length.toFixed(1));
}
