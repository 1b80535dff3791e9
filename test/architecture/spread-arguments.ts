/** Finds calls whose number of arguments depends on data: beyond about 120,000 arguments a call overflows the stack. */

import ts from 'typescript';

/** `line: text` of each call with spread arguments whose number the source does not bound. */
export function unboundedSpreads(text: string): string[] {
  if (!/[(,]\s*\.\.\./.test(text)) return [];
  const file = ts.createSourceFile('source.ts', text, ts.ScriptTarget.Latest, true, ts.ScriptKind.TS);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    const given: readonly ts.Expression[] =
      ts.isCallExpression(node) || ts.isNewExpression(node) ? (node.arguments ?? []) : [];
    for (const { expression } of given.filter(ts.isSpreadElement)) {
      if (isBounded(expression)) continue;
      const { line } = file.getLineAndCharacterOfPosition(expression.getStart());
      found.push(`${line + 1}: ${expression.getText()}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
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
