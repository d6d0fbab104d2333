// docs/shortcomings.md must name every reason for which a checkout goes to git, in the words that the report uses. The
// reasons are read out of the sources, so that a new one cannot be forgotten.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');
const ENGINE = join(ROOT, 'src/engine');

/** Where reasons come from, and what stands before each of their texts. */
const SOURCES: readonly (readonly [file: string, before: RegExp, least: number])[] = [
  ['checkout/needs-git.ts', /(?:when\((?:[^`']|'[^']*'(?=[\])]))*?, |reasons\.push\()/g, 17],
  ['checkout/manifest.ts', /#needsGit\.add\(/g, 4],
  ['filter/conversion.ts', /(?:handedToGit\(|return value === true|if \(value === true\) return |\? null : )/g, 4],
  ['refs/branch-state.ts', /\? /g, 1],
  ['odb/object-database.ts', /'unsupported', /g, 1],
  ['refs/head-update.ts', /'unsupported', /g, 1],
];
