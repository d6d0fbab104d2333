/**
 * Where a repository keeps its things: linked working trees, separate and bare git directories, the environment's variables,
 * submodules. Each layout is built twice, git checks one out and we the other, and all that is there afterwards is compared,
 * the git directories included.
 */
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CheckoutRequest, CheckoutTarget } from '../../../src/engine/settings.ts';
import { runOurs } from '../../support/ours.ts';
import { configArguments, git, GitRepository, runGit, type TreeSpec } from '../../support/repository.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { differences, snapshot, type Snapshot } from '../../support/worktree.ts';

const folder = temporaryFolder('layouts');
const template = new GitRepository(folder);
const trees: TreeSpec[] = [
  { a: 'a\n', 'd/b': 'b\n', gone: 'x\n', l: { symlink: 'a' } },
  { a: 'other\n', 'd/b': 'b\n', 'd/n': { content: 'n\n', executable: true }, l: { symlink: 'd/n' } },
];
const [first, second] = template.commits(trees).map(({ commit }) => commit) as [string, string];
template.git(['branch', 'other', first]);
template.git(['symbolic-ref', 'refs/heads/alias', 'refs/heads/other']);

interface Layout {
  /** What is below the layout's own folder, where `repo` is a repository with `first` checked out. */
  readonly build: (top: string) => void;
  /** Where both are started. */
  readonly cwd: string;
  readonly request?: (top: string) => Partial<CheckoutRequest>;
  readonly env?: (top: string) => Record<string, string>;
  readonly target?: CheckoutTarget;
  readonly config?: Record<string, string>;
  /** git fails, and so must we, with nothing changed. */
  readonly error?: string;
}

const at = (top: string, args: readonly string[]): void => void git(top, ['-C', 'repo', ...args]);

const layouts: Record<string, Layout> = {
  'a linked working tree': {
    build: (top) => at(top, ['worktree', 'add', '-q', '../linked', 'other']),
    cwd: 'linked',
  },
  'a linked working tree below the main one, from a directory in it': {
    build: (top) => at(top, ['worktree', 'add', '-q', '-b', 'inner', 'in/side', first]),
    cwd: 'repo/in/side/d',
  },
  'a linked working tree with settings of its own': {
    build: (top) => {
      at(top, ['config', 'extensions.worktreeConfig', 'true']);
      at(top, ['worktree', 'add', '-q', '--detach', '../linked', first]);
      git(top, ['-C', 'linked', 'config', '--worktree', 'core.autocrlf', 'true']);
    },
    cwd: 'linked',
  },
  'the main working tree, with settings that a linked one does not have': {
    build: (top) => {
      at(top, ['config', 'extensions.worktreeConfig', 'true']);
      at(top, ['config', '--worktree', 'core.autocrlf', 'true']);
      at(top, ['worktree', 'add', '-q', '--detach', '../linked', first]);
    },
    cwd: 'repo',
  },
  'a branch that another working tree has checked out': {
    build: (top) => at(top, ['worktree', 'add', '-q', '../linked', 'other']),
    cwd: 'repo',
    target: { kind: 'revision', revision: 'other' },
    error: 'ref-locked',
  },
  'a new branch in a linked working tree': {
    build: (top) => at(top, ['worktree', 'add', '-q', '--detach', '../linked', first]),
    cwd: 'linked',
    target: { kind: 'branch', branch: 'fresh', startPoint: second },
  },
  'a linked working tree of a bare repository': {
    build: (top) => {
      git(top, ['clone', '-q', '--bare', 'repo', 'bare.git']);
      git(top, ['-C', 'bare.git', 'worktree', 'add', '-q', '../linked', 'other']);
    },
    cwd: 'linked',
  },
  'a separate git directory': {
    build: (top) => git(top, ['init', '-q', '--separate-git-dir=elsewhere.git', 'repo']),
    cwd: 'repo/d',
  },
  'a link in place of .git': {
    build: (top) => {
      cpSync(join(top, 'repo/.git'), join(top, 'real'), { recursive: true });
      rmSync(join(top, 'repo/.git'), { recursive: true });
      symlinkSync('../real', join(top, 'repo/.git'));
    },
    cwd: 'repo',
  },
  'a bare repository and a working tree': {
    build: (top) => {
      git(top, ['clone', '-q', '--bare', 'repo', 'bare.git']);
      mkdirSync(join(top, 'tree'));
    },
    cwd: 'tree',
    request: (top) => ({ gitDir: join(top, 'bare.git'), workTree: '.' }),
  },
  'core.worktree, from a directory below': {
    build: (top) => {
      git(top, ['clone', '-q', 'repo', 'moved']);
      cpSync(join(top, 'repo/.git'), join(top, 'home/.git'), { recursive: true });
      at(top, ['config', 'core.worktree', join(top, 'moved')]);
      git(top, ['-C', 'repo', 'checkout', '-q', '-f', first]);
    },
    cwd: 'moved/d',
    request: (top) => ({ gitDir: join(top, 'repo/.git') }),
  },
  'the git directory of a submodule': {
    build: (top) => {
      mkdirSync(join(top, 'repo/.git/modules'));
      cpSync(join(top, 'repo/.git'), join(top, 'module'), { recursive: true });
      cpSync(join(top, 'module'), join(top, 'repo/.git/modules/x'), { recursive: true });
      rmSync(join(top, 'module'), { recursive: true });
      mkdirSync(join(top, 'repo/sub'));
      writeFileSync(join(top, 'repo/sub/.git'), 'gitdir: ../.git/modules/x\n');
      git(top, ['-C', 'repo/.git/modules/x', 'config', 'core.worktree', '../../../sub']);
      git(top, ['-C', 'repo/sub', 'checkout', '-q', '-f', first]);
    },
    cwd: 'repo/sub',
  },
  'GIT_DIR, GIT_WORK_TREE and GIT_INDEX_FILE': {
    build: (top) => mkdirSync(join(top, 'tree')),
    cwd: 'tree',
    env: (top) => ({
      GIT_DIR: join(top, 'repo/.git'),
      GIT_WORK_TREE: join(top, 'tree'),
      GIT_INDEX_FILE: join(top, 'my-index'),
    }),
  },
  'GIT_DIR relative, and the working tree is where we are': {
    build: (top) => mkdirSync(join(top, 'tree')),
    cwd: 'tree',
    env: () => ({ GIT_DIR: '../repo/.git' }),
  },
  GIT_COMMON_DIR: {
    build: (top) => {
      mkdirSync(join(top, 'own'));
      writeFileSync(join(top, 'own/HEAD'), `${first}\n`);
      mkdirSync(join(top, 'tree'));
    },
    cwd: 'tree',
    env: (top) => ({
      GIT_DIR: join(top, 'own'),
      GIT_COMMON_DIR: join(top, 'repo/.git'),
      GIT_WORK_TREE: join(top, 'tree'),
    }),
  },
  'GIT_OBJECT_DIRECTORY and GIT_ALTERNATE_OBJECT_DIRECTORIES': {
    build: (top) => {
      mkdirSync(join(top, 'empty/pack'), { recursive: true });
      cpSync(join(top, 'repo/.git/objects'), join(top, 'objects'), { recursive: true });
      rmSync(join(top, 'repo/.git/objects'), { recursive: true });
      mkdirSync(join(top, 'repo/.git/objects'));
    },
    cwd: 'repo',
    env: (top) => ({
      GIT_OBJECT_DIRECTORY: join(top, 'empty'),
      GIT_ALTERNATE_OBJECT_DIRECTORIES: `${join(top, 'nowhere')}:${join(top, 'objects')}`,
    }),
  },
  'alternates of alternates, five deep': {
    build: (top) => {
      cpSync(join(top, 'repo/.git/objects'), join(top, 'o5'), { recursive: true });
      rmSync(join(top, 'repo/.git/objects'), { recursive: true });
      for (const level of [4, 3, 2, 1]) {
        mkdirSync(join(top, `o${level}/info`), { recursive: true });
        writeFileSync(join(top, `o${level}/info/alternates`), `# a comment\n../o${level + 1}\n`);
      }
      mkdirSync(join(top, 'repo/.git/objects/info'), { recursive: true });
      writeFileSync(join(top, 'repo/.git/objects/info/alternates'), `${join(top, 'o1')}\n`);
    },
    cwd: 'repo',
  },
  'attributes and hooks of the common directory': {
    build: (top) => {
      at(top, ['worktree', 'add', '-q', '--detach', '../linked', first]);
      mkdirSync(join(top, 'repo/.git/info'), { recursive: true });
      appendFileSync(join(top, 'repo/.git/info/attributes'), '*b eol=crlf\n');
      mkdirSync(join(top, 'repo/.git/hooks'), { recursive: true });
      writeFileSync(join(top, 'repo/.git/hooks/post-checkout'), '#!/bin/sh\necho "$PWD $GIT_DIR" >hook-ran\n', {
        mode: 0o755,
      });
    },
    cwd: 'linked',
  },
  'a branch that is a symbolic ref': {
    build: () => undefined,
    cwd: 'repo',
    target: { kind: 'revision', revision: 'alias' },
  },
  'a branch that is a symbolic ref, moved': {
    build: () => undefined,
    cwd: 'repo',
    target: { kind: 'branch', branch: 'alias', startPoint: second },
  },
  'a branch that is a symbolic ref, moved while it is checked out': {
    build: (top) => at(top, ['checkout', '-q', 'alias']),
    cwd: 'repo',
    target: { kind: 'branch', branch: 'alias', startPoint: second },
  },
  'a branch moved by the name that leads to it': {
    build: (top) => at(top, ['checkout', '-q', 'other']),
    cwd: 'repo',
    target: { kind: 'branch', branch: 'alias', startPoint: second },
  },
  'a symbolic ref to a branch that is not there yet': {
    build: (top) => at(top, ['symbolic-ref', 'refs/heads/coming', 'refs/heads/to/come']),
    cwd: 'repo',
    target: { kind: 'branch', branch: 'coming', startPoint: second },
  },
};

function make(name: string, { build }: Layout): string {
  const top = join(folder, name);
  mkdirSync(top);
  const copied = spawnSync('cp', ['-a', template.directory, join(top, 'repo')]);
  expect(copied.status).toBe(0);
  at(top, ['checkout', '-q', '--detach', first]);
  build(top);
  // Stat data decide, not content: the indexes are younger than all files.
  const later = Date.now() / 1000 + 10;
  for (const path of readdirSync(top, { recursive: true, encoding: 'utf8' })) {
    if (path.endsWith('/index')) utimesSync(join(top, path), later, later);
  }
  return top;
}

/** All below a layout's folder but objects, and of the indexes what is in them; times and the folder's own name are masked. */
function lookAt(top: string): Snapshot {
  const seen = snapshot(top);
  for (const [path, value] of seen) {
    const inGit = /(^|\/)(\.git|[a-z]+\.git|own|real|elsewhere\.git)(\/|$)/.test(path);
    if (/(^|\/)(objects|o[0-9]|empty)\//.test(path)) seen.delete(path);
    else if (/(^|[/-])index$/.test(path) && value.startsWith('file')) {
      const entries = runGit(top, ['-C', 'repo', 'ls-files', '-s', '-v'], { env: { GIT_INDEX_FILE: join(top, path) } });
      seen.set(path, entries.stdout.toString());
    } else if (value.startsWith('file') && (inGit || path.endsWith('.git') || path.endsWith('hook-ran'))) {
      const text = readFileSync(join(top, path), 'latin1').replaceAll(top, 'TOP');
      seen.set(path, text.replace(/> \d+ [+-]\d{4}(?=\t)/g, '> TIME'));
    }
  }
  return seen;
}

describe('the same as git', () => {
  it.each(Object.entries(layouts))('%s', async (name, layout) => {
    const { target = { kind: 'detach', revision: second }, config = {} } = layout;
    const label = name.replace(/\W+/g, '-').slice(0, 40);
    const results: { seen: Snapshot; status: string }[] = [];
    const run = async (who: string, use: (top: string) => Promise<void> | void): Promise<void> => {
      const top = make(`${label}-${who}`, layout);
      const before = layout.error === undefined ? null : lookAt(top);
      const env = layout.env?.(top) ?? {};
      const old = { ...process.env };
      Object.assign(process.env, env);
      try {
        await use(top);
        const cwd = join(top, layout.cwd);
        const places = placesOf(layout, top);
        const status = [
          runGit(cwd, [...places, 'status', '--porcelain']).stdout.toString(),
          runGit(cwd, [...places, 'fsck', '--no-dangling'])
            .stderr.toString()
            .replaceAll(top, 'TOP'),
        ].join();
        results.push({ seen: lookAt(top), status });
        if (before !== null) expect(differences(before, lookAt(top)), `${who}: nothing changes`).toEqual([]);
      } finally {
        for (const key of Object.keys(env)) {
          if (old[key] === undefined) Reflect.deleteProperty(process.env, key);
          else process.env[key] = old[key];
        }
      }
    };
    await run('git', (top) => {
      const where =
        target.kind === 'branch'
          ? ['-B', target.branch, target.startPoint]
          : target.kind === 'revision'
            ? [target.revision]
            : ['--detach', second];
      const result = runGit(join(top, layout.cwd), [
        ...configArguments(config),
        ...placesOf(layout, top),
        ...['checkout', '-q', '--force', ...where],
      ]);
      expect(result.status, result.stderr.toString()).toBe(layout.error === undefined ? 0 : 128);
    });
    // The number of workers has nothing to do with the layout: half of them run with none, half with two.
    for (const workers of [name.length % 2 === 0 ? 0 : 2]) {
      await run(`ours-${workers}`, async (top) => {
        const request = layout.request?.(top) ?? {};
        const cwd = process.cwd();
        // A relative GIT_DIR is relative to where we are.
        process.chdir(join(top, layout.cwd));
        try {
          const { report } = await runOurs({ directory: join(top, layout.cwd), target, workers, config, request });
          expect(report.error?.code).toBe(layout.error);
          expect(report.fallbacks).toEqual([]);
        } finally {
          process.chdir(cwd);
        }
      });
    }
    const [expected, ...ours] = results;
    for (const each of ours) {
      expect(differences(expected!.seen, each.seen)).toEqual([]);
      expect(each.status).toBe(expected!.status);
    }
  });
});

function placesOf(layout: Layout, top: string): string[] {
  const { gitDir, workTree } = layout.request?.(top) ?? {};
  return [
    ...(gitDir === undefined ? [] : [`--git-dir=${gitDir}`]),
    ...(workTree === undefined ? [] : [`--work-tree=${workTree}`]),
  ];
}
