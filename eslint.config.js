// Lint rules. Three of them are this project's own: what the engine may touch (it is a library that knows neither GitHub
// Actions nor a terminal), and no bidirectional control characters, which can make source read otherwise than it runs.
import js from '@eslint/js';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

// The characters of "Trojan Source" (CVE-2021-42574) and the two implicit marks.
const BIDI = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

/** @type {import('eslint').Rule.RuleModule} */
const noBidi = {
  meta: {
    type: 'problem',
    docs: { description: 'forbid bidirectional control characters; write them as \\u escapes' },
    schema: [],
  },
  create(context) {
    return {
      Program() {
        context.sourceCode.lines.forEach((line, index) => {
          const column = line.search(BIDI);
          if (column >= 0) {
            context.report({
              loc: { line: index + 1, column },
              message: 'bidirectional control character: write it as a \\u escape',
            });
          }
        });
      },
    };
  },
};

const engineSyntax = [
  {
    selector: 'MemberExpression[object.name="process"][property.name=/^(exit|exitCode|abort|stdout|stderr)$/]',
    message: 'src/engine is a library: throw or return, and let the caller decide about output and the exit code.',
  },
  {
    selector: 'Literal[value=/^(GITHUB|INPUT|RUNNER|ACTIONS)_/]',
    message: 'src/engine does not know GitHub Actions: take the value as an argument.',
  },
  {
    selector: 'MemberExpression[property.name=/^(GITHUB|INPUT|RUNNER|ACTIONS)_/]',
    message: 'src/engine does not know GitHub Actions: take the value as an argument.',
  },
  {
    selector: 'ImportExpression[source.value=/^@actions\\//]',
    message: 'src/engine does not know GitHub Actions.',
  },
];

const engineEnvironment = {
  selector:
    ':matches(MemberExpression[property.name="env"], MemberExpression[property.value="env"])[object.name="process"]',
  message: 'Only src/engine/host and src/engine/gitdir read the environment: take the value as an argument.',
};

const engineImports = {
  paths: [
    { name: 'node:process', message: 'Use the global, so that the rules about process.exit and process.env see it.' },
    { name: 'process', message: 'Use the global, so that the rules about process.exit and process.env see it.' },
    { name: 'node:console', message: 'src/engine prints nothing.' },
  ],
  patterns: [{ group: ['@actions/*'], message: 'src/engine does not know GitHub Actions.' }],
};

export default defineConfig(
  globalIgnores(['dist/', 'build/', 'coverage/', 'bench/.cache/', 'test/fixtures/']),
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  js.configs.recommended,
  tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    plugins: { project: { rules: { 'no-bidi': noBidi } } },
    rules: {
      'project/no-bidi': 'error',
      'no-console': 'error',
      eqeqeq: ['error', 'always'],
      // TypeScript itself reports these, and knows Node's globals.
      'no-undef': 'off',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-import-type-side-effects': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/no-unnecessary-condition': ['error', { allowConstantLoopConditions: true }],
      // Typed arrays are everywhere here, and under noUncheckedIndexedAccess `table[i]!` is the way to read one that
      // costs nothing at run time.
      '@typescript-eslint/no-non-null-assertion': 'off',
      // An async method may have nothing to await yet keep an interface's promise that errors arrive as rejections.
      '@typescript-eslint/require-await': 'off',
    },
  },
  {
    files: ['src/engine/**/*.ts'],
    rules: {
      'no-restricted-imports': ['error', engineImports],
      'no-restricted-syntax': ['error', ...engineSyntax, engineEnvironment],
    },
  },
  {
    files: ['src/engine/host/**/*.ts', 'src/engine/gitdir/**/*.ts'],
    rules: { 'no-restricted-syntax': ['error', ...engineSyntax] },
  },
  {
    // Programs for a terminal.
    files: ['scripts/**', 'bench/**'],
    rules: { 'no-console': 'off' },
  },
);
