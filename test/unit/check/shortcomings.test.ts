// docs/shortcomings.md must name every reason for which a checkout goes to git, in the words that the report uses. The
// reasons are read out of the sources, so that a new one cannot be forgotten.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');

/** Files that give reasons, and how many there are at least: a search that finds none would prove nothing. */
const SOURCES = {
  'checkout/needs-git.ts': 3,
  'checkout/compare.ts': 1,
  'checkout/manifest.ts': 1,
  'filter/conversion.ts': 3,
  'checkout/filter-pass.ts': 1,
  'refs/branch-state.ts': 1,
  'odb/object-database.ts': 1,
  'pack/pack-file.ts': 1,
  'fetch/promised.ts': 1,
  'refs/replace-refs.ts': 1,
} as const;

/** Functions whose argument or result is a reason. */
const TAKE_REASONS = new Set(['when', 'push', 'add', 'handedToGit']);
const RETURN_REASONS = new Set(['encodingReason', 'pathReason', 'stateThatNeedsGit']);

/** A literal as a pattern: what is filled in may be anything. Undefined for anything but a text of several words. */
function patternOf(node: ts.Expression | undefined): RegExp | undefined {
  if (node === undefined) return undefined;
  const parts =
    ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)
      ? [node.text]
      : ts.isTemplateExpression(node)
        ? [node.head.text, ...node.templateSpans.map((span) => span.literal.text)]
        : [];
  if (!parts.join('').includes(' ')) return undefined;
  return new RegExp(`^${parts.map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)).join('.+')}$`);
}

/** The reasons that a source file gives, as patterns. */
function reasonsIn(source: string): RegExp[] {
  const found: RegExp[] = [];
  const add = (node: ts.Expression | undefined): void => {
    if (node !== undefined && ts.isConditionalExpression(node)) {
      add(node.whenTrue);
      add(node.whenFalse);
      return;
    }
    const pattern = patternOf(node);
    if (pattern !== undefined) found.push(pattern);
  };
  const visit = (node: ts.Node, returnsReasons: boolean): void => {
    let inside = returnsReasons;
    if (ts.isFunctionDeclaration(node)) inside = RETURN_REASONS.has(node.name?.text ?? '');
    if (ts.isReturnStatement(node) && inside) add(node.expression);
    if (ts.isCallExpression(node)) {
      const callee = ts.isPropertyAccessExpression(node.expression) ? node.expression.name : node.expression;
      if (ts.isIdentifier(callee) && TAKE_REASONS.has(callee.text)) add(node.arguments.at(-1));
    }
    if (ts.isNewExpression(node)) {
      const [code, message] = node.arguments ?? [];
      if (code !== undefined && ts.isStringLiteral(code) && code.text === 'unsupported') add(message);
    }
    ts.forEachChild(node, (child) => visit(child, inside));
  };
  visit(ts.createSourceFile('source.ts', source, ts.ScriptTarget.ES2022, true), false);
  return found;
}

/** The reasons that no piece of code in the document is one of. */
function unnamed(reasons: readonly RegExp[], document: string): RegExp[] {
  const named = [...document.matchAll(/`([^`]+)`/g)].map((match) => match[1]!);
  return reasons.filter((reason) => !named.some((text) => reason.test(text)));
}

describe('docs/shortcomings.md', () => {
  const document = readFileSync(join(ROOT, 'docs/shortcomings.md'), 'utf8');

  it.each(Object.entries(SOURCES))('names every reason of %s', (file, least) => {
    const reasons = reasonsIn(readFileSync(join(ROOT, 'src/engine', file), 'utf8'));
    expect(reasons.length).toBeGreaterThanOrEqual(least);
    expect(unnamed(reasons, document)).toEqual([]);
  });

  it('is seen to lack a reason that was just added', () => {
    const added = reasonsIn(`
      when(config.getBool('core.planted'), 'a planted reason');
      reasons.push(\`the index is \${planted} and odd\`);
      throw new CheckoutError('unsupported', 'a planted refusal');
      function encodingReason() { return x ? null : 'a planted encoding'; }
    `);
    expect(added).toHaveLength(4);
    expect(unnamed(added, document)).toHaveLength(4);
    expect(unnamed(added, '`a planted reason`, `the index is new and odd`')).toHaveLength(2);
  });
});
