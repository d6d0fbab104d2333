/**
 * A repository made of given files, git to ask about it, and our own answer about the same files.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AttributeStack, type AttributeSources } from '../../../src/engine/attributes/attribute-stack.ts';
import type { AttributeSet } from '../../../src/engine/attributes/attribute-sets.ts';
import { parseAttributes, type AttributeRules } from '../../../src/engine/attributes/gitattributes.ts';

export type Files = ReadonlyMap<string, Buffer>;

export class OracleRepository {
  readonly directory: string;
  readonly #root: string;

  /** The files are committed and in the index; none of them is in the working tree. */
  constructor(files: Files) {
    this.#root = mkdtempSync(join(tmpdir(), 'conversion-'));
    this.directory = join(this.#root, 'repository');
    writeFileSync(join(this.#root, 'empty'), '');
    execFileSync('git', ['init', '-q', this.directory], { env: this.#environment() });
    const parts: Buffer[] = [Buffer.from('commit refs/heads/main\ncommitter A <a@b> 0 +0000\ndata 0\n')];
    for (const [path, content] of files) {
      parts.push(Buffer.from(`M 100644 inline "${path}"\ndata ${content.length}\n`), content, Buffer.from('\n'));
    }
    this.git(['fast-import', '--quiet'], Buffer.concat(parts));
    this.git(['read-tree', 'refs/heads/main']);
  }

  git(args: readonly string[], input?: Buffer | string): Buffer {
    return execFileSync('git', args, {
      cwd: this.directory,
      env: this.#environment(),
      maxBuffer: 1 << 28,
      stdio: ['pipe', 'pipe', 'ignore'],
      ...(input === undefined ? {} : { input }),
    });
  }

  /** Values of the conversion attributes of each path, as `git check-attr` prints them. */
  checkAttributes(paths: readonly string[], options: readonly string[] = ['--cached'], config: readonly string[] = []) {
    const out = this.git(
      [...config, 'check-attr', '-z', '--stdin', ...options, ...NAMES],
      Buffer.from(paths.map((path) => `${path}\0`).join(''), 'latin1'),
    ).toString('latin1');
    const fields = out.split('\0');
    const lines: string[] = [];
    for (let i = 0; i + 2 < fields.length; i += 3 * NAMES.length) {
      lines.push(NAMES.map((_, n) => fields[i + 3 * n + 2]).join(' '));
    }
    return lines;
  }

  remove(): void {
    rmSync(this.#root, { recursive: true, force: true });
  }

  #environment(): NodeJS.ProcessEnv {
    const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'));
    return {
      ...Object.fromEntries(kept),
      HOME: this.#root,
      XDG_CONFIG_HOME: this.#root,
      GIT_CONFIG_GLOBAL: join(this.#root, 'empty'),
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_ATTR_NOSYSTEM: '1',
      LC_ALL: 'C',
    };
  }
}

const NAMES = ['text', 'crlf', 'eol', 'ident', 'filter', 'working-tree-encoding'];

/** Our attribute sets of the paths, walking the directories as a checkout does. */
export function resolveAll(
  files: Files,
  paths: readonly string[],
  sources: Partial<AttributeSources> = {},
  fromBlob = true,
): AttributeSet[] {
  const stack = new AttributeStack({ info: null, global: null, system: null, ignoreCase: false, ...sources });
  const rulesOf = (directory: string): AttributeRules | null => {
    const content = files.get(`${directory}.gitattributes`);
    return content === undefined ? null : parseAttributes(content, { fromBlob, macros: directory === '' });
  };
  const open: string[] = [''];
  stack.enterDirectory(rulesOf(''), 0);
  return paths.map((path) => {
    while (!path.startsWith(open.at(-1)!)) {
      open.pop();
      stack.leaveDirectory();
    }
    for (;;) {
      const slash = path.indexOf('/', open.at(-1)!.length);
      if (slash < 0) break;
      const directory = path.slice(0, slash + 1);
      open.push(directory);
      stack.enterDirectory(rulesOf(directory), Buffer.from(directory, 'latin1').length);
    }
    const bytes = Buffer.from(`??${path}??`, 'latin1');
    return stack.sets.get(stack.resolve(bytes, 2, bytes.length - 2));
  });
}

/** A set as `git check-attr` prints it. */
export function print(set: AttributeSet): string {
  const values = [set.text, set.crlf, set.eol, set.ident, set.filter, set.workingTreeEncoding];
  return values
    .map((value) => {
      if (typeof value === 'string') return Buffer.from(value, 'utf8').toString('latin1');
      return value === null ? 'unspecified' : value ? 'set' : 'unset';
    })
    .join(' ');
}
