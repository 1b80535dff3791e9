/** Finds calls whose number of arguments depends on data: beyond about 120,000 arguments a call overflows the stack. */

import ts from 'typescript';

const MAY_SPREAD = /[(,]\s*\.\.\.|\bapply\(/;

/** `line: text` of each call with spread arguments whose number the source does not bound. */
export function unboundedSpreads(text: string): string[] {
  if (!MAY_SPREAD.test(text)) return [];
  return declarationsIn(text).flatMap(({ line, code }) => (MAY_SPREAD.test(code) ? spreadsIn(code, line) : []));
}

/** Each declaration by itself: parsing all of a file for one call takes seconds in the end. */
function declarationsIn(text: string): { readonly line: number; readonly code: string }[] {
  const chunks = text.split(/^(?=[A-Za-z/])/m);
  // Text in backticks may have lines that look like the beginning of a declaration.
  if (chunks.some((code) => code.split('`').length % 2 === 0)) return [{ line: 1, code: text }];
  let line = 1;
  return chunks.map((code) => {
    const declaration = { line, code };
    line += code.split('\n').length - 1;
    return declaration;
  });
}

function spreadsIn(text: string, firstLine: number): string[] {
  const file = ts.createSourceFile('source.ts', text, ts.ScriptTarget.Latest, true, ts.ScriptKind.TS);
  const found: string[] = [];
  // With a list of its own instead of recursion: a long chain of operators is a deep tree.
  const pending: ts.Node[] = [file];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    for (const { expression } of spreadsOf(node)) {
      if (isBounded(expression)) continue;
      const { line } = file.getLineAndCharacterOfPosition(expression.getStart());
      found.push(`${firstLine + line}: ${expression.getText()}`);
    }
    ts.forEachChild(node, (child) => {
      pending.push(child);
    });
  }
  return found.reverse();
}

/** The arguments of `f(...x)` and `new C(...x)`, and the list of `f.apply(this, x)`, which counts as `...x`. */
function spreadsOf(node: ts.Node): readonly { readonly expression: ts.Expression }[] {
  if (!ts.isCallExpression(node) && !ts.isNewExpression(node)) return [];
  const given: readonly ts.Expression[] = node.arguments ?? [];
  const spreads = given.filter(ts.isSpreadElement);
  // With one argument it is a method of the same name.
  const list = given.length > 1 && isApply(node.expression) ? given.at(-1) : undefined;
  return list === undefined ? spreads : [...spreads, { expression: list }];
}

function isApply(callee: ts.Expression): boolean {
  return ts.isPropertyAccessExpression(callee) && callee.name.text === 'apply';
}

/** A constant, a list that is written out, or arguments that are passed on, whose number the caller has written out. */
function isBounded(expression: ts.Expression): boolean {
  if (ts.isParenthesizedExpression(expression)) return isBounded(expression.expression);
  if (ts.isConditionalExpression(expression)) return isBounded(expression.whenTrue) && isBounded(expression.whenFalse);
  if (ts.isArrayLiteralExpression(expression)) {
    return expression.elements.filter(ts.isSpreadElement).every((spread) => isBounded(spread.expression));
  }
  if (!ts.isIdentifier(expression)) return false;
  return /^[A-Z][A-Z\d_]*$/.test(expression.text) || isRestParameter(expression);
}

function isRestParameter(name: ts.Identifier): boolean {
  for (let node: ts.Node | undefined = name.parent; node !== undefined; node = node.parent) {
    if (!ts.isFunctionLike(node)) continue;
    const parameter = node.parameters.find((each) => ts.isIdentifier(each.name) && each.name.text === name.text);
    if (parameter !== undefined) return parameter.dotDotDotToken !== undefined;
  }
  return false;
}
