/**
 * Repositories with submodules for tests, and what git makes of them: several levels, served from a folder.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { git } from './repository.ts';

/** A submodule of a commit. */
export interface Member {
  readonly path: string;
  readonly name?: string;
  readonly url: string;
  readonly oid: string;
  /** Further lines of its section. */
  readonly more?: readonly string[];
}

/** A folder of bare repositories. */
export class Hosted {
  readonly root: string;

  constructor(root: string) {
    this.root = root;
    mkdirSync(root, { recursive: true });
  }

  path(name: string): string {
    return join(this.root, `${name}.git`);
  }

  /** Adds a commit to `main` with these files and submodules alone; returns its id. */
  commit(
    name: string,
    files: Readonly<Record<string, string>>,
    members: readonly Member[] = [],
    { branch = 'main', gitmodules }: { readonly branch?: string; readonly gitmodules?: string } = {},
  ): string {
    const bare = this.path(name);
    const ref = `refs/heads/${branch}`;
    let parent = '';
    try {
      parent = git(bare, ['rev-parse', '--verify', '-q', ref]).toString().trim();
    } catch {
      mkdirSync(dirname(bare), { recursive: true });
      git(this.root, ['init', '-q', '--bare', '-b', 'main', bare]);
      git(bare, ['config', 'uploadpack.allowAnySHA1InWant', 'true']);
    }
    const text = gitmodules ?? members.map(gitmodulesSection).join('');
    const all = text === '' ? files : { ...files, '.gitmodules': text };
    const parts: string[] = [`commit ${ref}\ncommitter A <a@example.com> 1700000000 +0000\ndata 1\nx\n`];
    if (parent !== '') parts.push(`from ${parent}\n`);
    parts.push('deleteall\n');
    for (const [path, content] of Object.entries(all)) {
      parts.push(`M 100644 inline ${path}\ndata ${Buffer.byteLength(content)}\n${content}\n`);
    }
    for (const { path, oid } of members) parts.push(`M 160000 ${oid} ${path}\n`);
    git(bare, ['-c', 'fastimport.unpackLimit=1', 'fast-import', '--quiet', '--force'], { input: parts.join('') });
    return git(bare, ['rev-parse', ref]).toString().trim();
  }
}

function gitmodulesSection({ path, name = path, url, more = [] }: Member): string {
  const lines = [`path = ${path}`, `url = ${url}`, ...more];
  return `[submodule "${name}"]\n${lines.map((line) => `\t${line}\n`).join('')}`;
}

/** Every git process of this test file may fetch from folders, as only a user may otherwise. */
export function allowFileTransport(): void {
  writeFileSync(join(process.env['HOME'] ?? '', '.gitconfig'), '[protocol "file"]\n\tallow = always\n');
}

/** What must be as git leaves it, as text to be compared. */
export function submoduleState(top: string): string {
  const text = (args: readonly string[]): string => git(top, args).toString();
  const each =
    'echo "$displaypath"; git rev-parse HEAD; cat .git; git config --local --list | sort; git symbolic-ref -q HEAD; ' +
    'git for-each-ref --format="%(refname) %(objectname)"; git symbolic-ref refs/remotes/origin/HEAD; git status --porcelain --ignored; git fsck --connectivity-only; true';
  return [
    text(['submodule', 'status', '--recursive']),
    text(['status', '--porcelain', '--ignored']),
    text(['config', '--local', '--get-regexp', '^submodule\\.']).split('\n').sort().join('\n'),
    text(['submodule', '--quiet', 'foreach', '--recursive', each]),
  ].join('\n---\n');
}

/** The commands of actions/checkout. */
export function updateByGit(
  top: string,
  { depth, recursive }: { readonly depth: number; readonly recursive: boolean },
): void {
  const deep = recursive ? ['--recursive'] : [];
  git(top, ['submodule', 'sync', ...deep]);
  git(top, [
    '-c',
    'protocol.version=2',
    'submodule',
    'update',
    '--init',
    '--force',
    ...(depth > 0 ? [`--depth=${depth}`] : []),
    ...deep,
  ]);
  git(top, ['submodule', 'foreach', '--quiet', ...deep, 'git config --local gc.auto 0']);
}
