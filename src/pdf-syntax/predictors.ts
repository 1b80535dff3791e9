/** Reverses the predictors of Flate and LZW data (ISO 32000-2, 7.4.4.4). */

/** Returns an integer from /DecodeParms. If there is none, returns the default `usual`. */
export type Parameter = (key: string, usual: number) => number;

export function unpredict(data: Buffer, parameter: Parameter, malformed: (problem: string) => Error): Buffer {
  const predictor = parameter('Predictor', 1);
  if (predictor <= 1) return data;
  const bits = parameter('BitsPerComponent', 8);
  const pixel = Math.ceil((parameter('Colors', 1) * bits) / 8);
  const row = Math.ceil((parameter('Colors', 1) * bits * parameter('Columns', 1)) / 8);
  if (row === 0) throw malformed('a stream has rows without columns');
  if (predictor === 2 && bits === 8) return undoTiff(data, pixel, row);
  if (predictor < 10) throw malformed('a stream has a predictor for pictures');
  const rows = Math.ceil(data.length / (row + 1));
  const out = Buffer.alloc(Math.min(rows * row, data.length));
  let length = 0;
  for (let index = 0; index < rows; index += 1) {
    const start = index * (row + 1);
    const kind = data[start] ?? 0;
    if (kind > 4) throw malformed('a stream has an unknown predictor');
    const end = Math.min(row, data.length - start - 1);
    const at = index * row;
    for (let column = 0; column < end; column += 1) {
      const left = column < pixel ? 0 : (out[at + column - pixel] ?? 0);
      const up = index === 0 ? 0 : (out[at + column - row] ?? 0);
      const corner = index === 0 || column < pixel ? 0 : (out[at + column - row - pixel] ?? 0);
      const predicted = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][kind] ?? 0;
      out[at + column] = (data[start + 1 + column] ?? 0) + predicted;
    }
    length = at + end;
  }
  return out.subarray(0, length);
}

function undoTiff(data: Buffer, pixel: number, row: number): Buffer {
  const out = Buffer.from(data);
  for (let at = pixel; at < out.length; at += 1) {
    if (at % row >= pixel) out[at] = (out[at] ?? 0) + (out[at - pixel] ?? 0);
  }
  return out;
}

function paeth(left: number, up: number, corner: number): number {
  const distances = [left, up, corner].map((each) => Math.abs(left + up - corner - each));
  const [toLeft = 0, toUp = 0, toCorner = 0] = distances;
  if (toLeft <= toUp && toLeft <= toCorner) return left;
  return toUp <= toCorner ? up : corner;
}
