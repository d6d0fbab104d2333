/**
 * The `lfs` input: git-lfs must be there and be configured, as actions/checkout leaves it. The content itself is brought by the
 * engine's checkout. docs/decisions/lfs-download.md.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CheckoutError } from '../engine/errors.ts';
import type { ConfigOverride, GitProcess } from '../engine/settings.ts';
import { appendSections, configValues, editConfigFile, readConfigFile } from './config-file.ts';
import { gitText } from './git.ts';

/** What `git lfs install --local` writes. */
const FILTER = {
  clean: 'git-lfs clean -- %f',
  smudge: 'git-lfs smudge -- %f',
  process: 'git-lfs filter-process',
  required: 'true',
} as const;

/** What is asked for. */
export interface LfsInputs {
  /** Patterns of paths, as git-lfs understands them; null to leave it to the configuration. */
  readonly include: readonly string[] | null;
  readonly exclude: readonly string[] | null;
}

/** Patterns, divided by commas as in git-lfs's own settings, or by ends of lines; null where there are none. */
export function pathList(text: string): string[] | null {
  const patterns = text
    .split(/[,\n]/)
    .map((pattern) => pattern.trim())
    .filter((pattern) => pattern !== '');
  return patterns.length === 0 ? null : patterns;
}

/** The configuration of this step's commands that makes git-lfs heed the lists. Pure. */
export function lfsConfig({ include, exclude }: LfsInputs): ConfigOverride[] {
  return [
    ...(include === null ? [] : [{ key: 'lfs.fetchinclude', value: include.join(',') }]),
    ...(exclude === null ? [] : [{ key: 'lfs.fetchexclude', value: exclude.join(',') }]),
  ];
}

/** For submodules, which the system's configuration may not set the filter for: the checkout goes by it. Pure. */
export function lfsFilterConfig(): ConfigOverride[] {
  return Object.entries(FILTER).map(([name, value]) => ({ key: `filter.lfs.${name}`, value }));
}

/** Makes later git commands in a submodule go by it, too. Throws `io`. */
export function setLfsFilter(configFile: string): void {
  editConfigFile(configFile, (text) =>
    isFilterSet(text)
      ? text
      : appendSections(text, [{ section: 'filter', subsection: 'lfs', variables: Object.entries(FILTER) }]),
  );
}

/** Whether `git lfs version` prints one that is recent enough: 2.1, as actions/checkout demands. Pure. */
export function isLfsVersion(text: string): boolean {
  const match = /^git-lfs\/(\d+)\.(\d+)/.exec(text);
  if (match === null) return false;
  const major = Number(match[1]);
  return major > 2 || (major === 2 && Number(match[2]) >= 1);
}

/** Stops where git-lfs is missing or too old, before anything is touched. */
export async function requireLfs(git: GitProcess, cwd: string): Promise<void> {
  const { exitCode, stdout } = await git({ args: ['lfs', 'version'], cwd, onStderrLine: () => undefined });
  if (exitCode !== 0) {
    throw new CheckoutError('git-missing', `input 'lfs' needs git-lfs, which is not installed`, { option: 'lfs' });
  }
  const text = stdout.toString('utf8').trim();
  if (isLfsVersion(text)) return;
  const [shown = ''] = text.split(/\s/);
  throw new CheckoutError('git-missing', `input 'lfs' needs git-lfs 2.1 or newer, not '${shown.slice(0, 100)}'`, {
    option: 'lfs',
  });
}

function isFilterSet(config: string): boolean {
  return Object.entries(FILTER).every(([name, value]) => {
    const values = configValues(config, 'filter', 'lfs', name);
    return values.length === 1 && values[0] === value;
  });
}

const HOOKS = ['pre-push', 'post-checkout', 'post-commit', 'post-merge'];

/** `git lfs install --local`, unless an earlier step has done it. Throws `git-failed`. */
export async function installLfs(git: GitProcess, gitDir: string): Promise<void> {
  const config = readConfigFile(join(gitDir, 'config')) ?? '';
  if (isFilterSet(config) && HOOKS.every((name) => existsSync(join(gitDir, 'hooks', name)))) return;
  await gitText(git, { args: ['lfs', 'install', '--local'] }, 'cannot configure Git LFS');
}
