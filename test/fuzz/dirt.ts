/**
 * What happens to a working tree between checkouts, done to one copy. Where the tree has something else at the place, an
 * operation fails, in both copies alike, and that is the end of it.
 */
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { HASH_BYTES } from './build.ts';
import { indexFacts, withOtherStat } from './index-file.ts';
import { contentBytes, type Case, type Dirt } from './model.ts';
import { quote, type Shell } from './shell.ts';

export async function applyDirt(one: Case, dirts: readonly Dirt[], box: string, shell: Shell): Promise<void> {
  for (const dirt of dirts) {
    const commands = gitCommands(one, dirt);
    if (commands !== null) {
      await shell.run(`${box}/tree`, commands);
      continue;
    }
    try {
      if (dirt.do === 'stat') await makeWhole(one, box, shell);
      onDisk(one, dirt, box);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    }
  }
}

/**
 * Makes a split index whole. Ours is, when git's copy still has its index in two files, where the entry is not found by its
 * path: the stat data would be changed in one copy alone.
 */
async function makeWhole(one: Case, box: string, shell: Shell): Promise<void> {
  const index = `${box}/tree/.git/index`;
  if (!existsSync(index) || !indexFacts(readFileSync(index), HASH_BYTES[one.hash]).extensions.has('link')) return;
  await shell.run(`${box}/tree`, 'git -c core.splitIndex=false update-index --no-split-index');
}

function bytes(path: string): Buffer {
  return Buffer.from(path, 'latin1');
}

function makeParents(path: string): void {
  mkdirSync(bytes(path.slice(0, path.lastIndexOf('/'))), { recursive: true });
}

function removeAll(path: string): void {
  rmSync(bytes(path), { recursive: true, force: true });
}

function onDisk(one: Case, dirt: Dirt, box: string): void {
  const tree = `${box}/tree`;
  if (dirt.do === 'stat') {
    const index = `${tree}/.git/index`;
    const changed = withOtherStat(readFileSync(index), HASH_BYTES[one.hash], dirt.path, dirt.field);
    if (changed !== null) writeFileSync(index, changed);
    return;
  }
  if (dirt.do === 'state') {
    writeFileSync(`${tree}/.git/${dirt.name}`, `${'1'.repeat(2 * HASH_BYTES[one.hash])}\n`);
    return;
  }
  if (!('path' in dirt)) return;
  const full = `${tree}/${dirt.path}`;
  // Nothing is done through a link: both copies have the same outside only as long as it is left alone.
  for (let at = tree.length + 1; (at = full.indexOf('/', at)) >= 0; at++) {
    if (lstatSync(bytes(full.slice(0, at)), { throwIfNoEntry: false })?.isSymbolicLink() === true) return;
  }
  const there = lstatSync(bytes(full), { throwIfNoEntry: false });
  switch (dirt.do) {
    case 'write':
      makeParents(full);
      // Not through a link, and not into a pipe that nobody reads.
      if (there?.isFile() !== false) writeFileSync(bytes(full), contentBytes(dirt.content));
      break;
    case 'edit': {
      if (there?.isFile() !== true) return;
      const content = readFileSync(bytes(full));
      if (content.length > 0) content[0] = content[0] === 0x58 ? 0x59 : 0x58;
      writeFileSync(bytes(full), content);
      if (dirt.keepTime) utimesSync(bytes(full), there.atimeMs / 1000, there.mtimeMs / 1000);
      break;
    }
    case 'copy': {
      if (there?.isFile() !== true) return;
      const content = readFileSync(bytes(full));
      // Made before the old one goes, or it would get the same inode number.
      writeFileSync(bytes(`${full}.copy`), content, { mode: there.mode & 0o777 });
      utimesSync(bytes(`${full}.copy`), there.atimeMs / 1000, there.mtimeMs / 1000);
      renameSync(bytes(`${full}.copy`), bytes(full));
      break;
    }
    case 'touch':
      if (there?.isSymbolicLink() === false) utimesSync(bytes(full), dirt.time, dirt.time);
      break;
    case 'chmod':
      if (there?.isFile() === true) chmodSync(bytes(full), dirt.mode);
      break;
    case 'remove':
      removeAll(full);
      break;
    case 'directory':
      removeAll(full);
      mkdirSync(bytes(full), { recursive: true });
      if (dirt.file) writeFileSync(bytes(`${full}/untracked`), 'untracked\n');
      break;
    case 'link':
      makeParents(full);
      removeAll(full);
      symlinkSync(bytes(dirt.target), bytes(full));
      break;
    case 'hardlink':
      makeParents(full);
      removeAll(full);
      linkSync(bytes(dirt.to === null ? `${box}/outside/b` : `${tree}/${dirt.to}`), bytes(full));
      break;
    case 'move':
      if (existsSync(bytes(`${tree}/${dirt.to}`))) return;
      renameSync(bytes(full), bytes(`${tree}/${dirt.to}`));
      symlinkSync(bytes(`${'../'.repeat(dirt.path.split('/').length - 1)}${dirt.to}`), bytes(full));
      break;
    case 'fifo':
    case 'unmerged':
    case 'add':
    case 'uncache':
    case 'flag':
      // gitCommands
      break;
    case 'nested':
      mkdirSync(bytes(`${full}/.git/refs`), { recursive: true });
      mkdirSync(bytes(`${full}/.git/objects`), { recursive: true });
      writeFileSync(bytes(`${full}/.git/HEAD`), 'ref: refs/heads/main\n');
      writeFileSync(bytes(`${full}/inside`), 'x');
      break;
  }
}

/** Those that git or the shell does. */
function gitCommands(one: Case, dirt: Dirt): string | null {
  const zero = '0'.repeat(2 * HASH_BYTES[one.hash]);
  switch (dirt.do) {
    case 'fifo':
      // git would wait for somebody to write rules into it.
      if (/(^|\/)\.git[a-z]+$/.test(dirt.path)) return ':';
      return `rm -rf ${quote(`./${dirt.path}`)}; mkfifo ${quote(`./${dirt.path}`)}`;
    case 'unmerged': {
      const path = quote(dirt.path);
      const stages = dirt.stages.map(
        (stage) => `printf '100644 %s ${stage}\\t%s\\0' "$(echo stage ${stage} | git hash-object -w --stdin)" ${path}`,
      );
      return `{ printf '0 ${zero}\\t%s\\0' ${path}; ${stages.join('; ')}; } | git update-index -z --index-info`;
    }
    case 'add':
      return `git --literal-pathspecs add -f -- ${quote(dirt.path)}`;
    case 'uncache':
      return `git update-index --force-remove -- ${quote(dirt.path)}`;
    case 'flag':
      return dirt.flag === 'intent-to-add'
        ? `git --literal-pathspecs add -f -N -- ${quote(dirt.path)}`
        : `git update-index --${dirt.flag} -- ${quote(dirt.path)}`;
    case 'index':
      return INDEX_COMMANDS[dirt.form];
    case 'sparse':
      return (
        `git config core.sparseCheckout true && git config core.sparseCheckoutCone ${dirt.cone ? 'true' : 'false'} && ` +
        `printf '%s\\n' ${dirt.lines.map(quote).join(' ')} > .git/info/sparse-checkout`
      );
    default:
      return null;
  }
}

const INDEX_COMMANDS: Readonly<Record<Extract<Dirt, { do: 'index' }>['form'], string>> = {
  v4: 'git update-index --index-version 4',
  split: 'git update-index --split-index',
  'untracked-cache': 'git update-index --force-untracked-cache && GIT_OPTIONAL_LOCKS=1 git status',
  none: 'rm -f .git/index',
  'resolve-undo':
    `b=$(echo base | git hash-object -w --stdin) && printf '100644 %s 1\\tresolved\\n100644 %s 2\\tresolved\\n' $b $b | ` +
    'git update-index --index-info && echo resolved > resolved && git add -f resolved',
};
