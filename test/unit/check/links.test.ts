// Links between the documents and into the sources lead somewhere: files and headings are renamed, links are forgotten.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');

/** The anchors of a document, as GitHub makes them of its headings. */
function anchors(markdown: string): Set<string> {
  const headings = [...markdown.matchAll(/^#+ (.+)$/gm)].map((match) => match[1]!);
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

/** Links of the documents in a folder that lead nowhere, as "document: link". Addresses on the web are not followed. */
function deadLinks(root: string, documents: readonly string[]): string[] {
  const dead: string[] = [];
  for (const document of documents) {
    const markdown = readFileSync(join(root, document), 'utf8');
    for (const match of markdown.matchAll(/\]\(([^)\s]+)\)/g)) {
      const link = match[1]!;
      if (/^[a-z]+:/.test(link)) continue;
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? join(root, document) : join(root, dirname(document), path);
      const found = existsSync(target) && (anchor === undefined || anchors(readFileSync(target, 'utf8')).has(anchor));
      if (!found) dead.push(`${document}: ${link}`);
    }
  }
  return dead;
}

/** All documents below the root and docs/. */
function documentsOf(root: string): string[] {
  const top = readdirSync(root).filter((name) => name.endsWith('.md'));
  const below = readdirSync(join(root, 'docs'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.md'))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
  return [...top, ...below];
}

it('no link of a document is dead', () => {
  const documents = documentsOf(ROOT);
  expect(documents.length).toBeGreaterThan(10);
  expect(deadLinks(ROOT, documents)).toEqual([]);
});

it('a dead link is found', () => {
  const folder = mkdtempSync(join(tmpdir(), 'links-'));
  try {
    mkdirSync(join(folder, 'docs'));
    writeFileSync(
      join(folder, 'README.md'),
      '# A `b` c\n[1](docs/a.md) [2](docs/none.md) [3](#a-b-c) [4](#d) [5](https://x)',
    );
    writeFileSync(join(folder, 'docs/a.md'), '[1](../README.md#a-b-c) [2](../README.md#none)');
    expect(deadLinks(folder, documentsOf(folder))).toEqual([
      'README.md: docs/none.md',
      'README.md: #d',
      `${join('docs', 'a.md')}: ../README.md#none`,
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it('the sources name documents that are there', () => {
  const files = readdirSync(join(ROOT, 'src'), { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const named = files.flatMap((entry) =>
    [...readFileSync(join(entry.parentPath, entry.name), 'utf8').matchAll(/docs\/[\w/-]+\.md/g)].map(
      (match) => match[0],
    ),
  );
  expect(named.length).toBeGreaterThan(3);
  expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});
