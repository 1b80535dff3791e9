/** Where a text stops being JSON (RFC 8259): Node's own messages name no place in half of the cases, and quote the text. */

export interface Place {
  readonly line: number;
  readonly column: number;
}

/** What stands at the place where a value, a name or a separator was expected. */
const STRING = /"(?:[^"\\\p{Cc}]|\u{7f}|[\u{80}-\u{9f}]|\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4}))*"/uy;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])|(?:true|false|null)(?!\w)/uy;
const BLANK = /[ \t\r\n]*/uy;

/** Lines and columns count from 1. For a text that `JSON.parse` has refused. */
export function placeOfFault(text: string): Place {
  const before = text.slice(0, faultIn(text)).split(/\r\n|\r|\n/);
  return { line: before.length, column: [...(before.at(-1) ?? '')].length + 1 };
}

/** A walk without recursion: how deep the text is nested is up to whoever wrote it. */
function faultIn(text: string): number {
  const open: ('{' | '[')[] = [];
  let at = 0;
  const take = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    const found = pattern.test(text);
    if (found) at = pattern.lastIndex;
    return found;
  };
  const takeMark = (mark: string): boolean => {
    take(BLANK);
    const found = text[at] === mark;
    if (found) at += 1;
    return found;
  };
  const takeName = (): boolean => {
    take(BLANK);
    return take(STRING) && takeMark(':');
  };

  for (;;) {
    // A value is expected.
    if (takeMark('{')) {
      if (!takeMark('}')) {
        if (!takeName()) return at;
        open.push('{');
        continue;
      }
    } else if (takeMark('[')) {
      if (!takeMark(']')) {
        open.push('[');
        continue;
      }
    } else if (!take(STRING) && !take(SCALAR)) {
      return at;
    }
    // A value has ended; what it stands in may end with it.
    while (open.length > 0 && takeMark(open.at(-1) === '{' ? '}' : ']')) open.pop();
    if (open.length === 0 || !takeMark(',')) return skipBlanks(text, at);
    if (open.at(-1) === '{' && !takeName()) return at;
  }
}

function skipBlanks(text: string, at: number): number {
  BLANK.lastIndex = at;
  BLANK.test(text);
  return BLANK.lastIndex;
}
