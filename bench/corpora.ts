/**
 * Makes the repositories that the benchmark checks out, once, in a cache folder: the Linux trees from Debian's source
 * packages, and two small synthesized ones. Each is built under a temporary name and renamed when complete, and a stamp
 * with its facts is written last, so that a half-made one is made again.
 *
 *   node bench/corpora.ts [NAME]...      makes what is missing and prints where everything is
 */
import { createHash } from 'node:crypto';
import {
  createReadStream,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { git, gitEnvironment, run } from './process.ts';

/** What is recorded beside each corpus. */
export interface CorpusFacts {
  name: CorpusName;
  /** Changed when the way of making it changes, so that an old copy is made again. */
  recipe: number;
  /** Path of the bare repository. */
  path: string;
  /** One entry a branch. */
  branches: { name: string; commit: string; tree: string; files: number; bytes: number }[];
  packs: number;
  packBytes: number;
  objects: number;
  /** Where the content came from: package versions and tarball checksums. */
  sources: string[];
  gitVersion: string;
}

export type CorpusName =
  'linux' | 'linux-6.12-depth1' | 'dozen' | 'files-5000' | 'files-1000000' | 'flat-100000' | 'lfs-2000';

/** Raised with any change below that changes what a corpus holds or how it is packed. */
const RECIPE = 1;

/** `git ls-tree -r` of linux-source-6.12 as Debian 12 ships it; another package version may differ a little. */
const LINUX_612_FILES = 86_691;

export function cacheFolder(): string {
  return process.env['BENCH_CACHE'] ?? join(homedir(), '.cache', 'parallel-checkout-bench');
}

const makers: Record<CorpusName, (repository: string, cache: string) => Promise<string[]>> = {
  linux: makeLinux,
  'linux-6.12-depth1': makeLinuxDepth1,
  dozen: (repository) => makeSynthesized(repository, 12),
  'files-5000': (repository) => makeSynthesized(repository, 5_000),
  // A hundred directories of a hundred directories of a hundred files; and as many files as fit nobody's screen.
  'files-1000000': (repository) =>
    makeSmallFiles(repository, 1_000_000, (n) => `d${Math.floor(n / 10_000)}/s${Math.floor(n / 100) % 100}/f${n}`),
  'flat-100000': (repository) => makeSmallFiles(repository, 100_000, (n) => `f${n}`),
  'lfs-2000': (repository) => makeLfs(repository, 2_000, 100_000),
};

export const corpusNames = Object.keys(makers) as CorpusName[];

/** Returns the named corpus, which is made first if it is missing, half made, or of an older recipe. */
export async function corpus(name: CorpusName, log: (line: string) => void = () => undefined): Promise<CorpusFacts> {
  const cache = cacheFolder();
  mkdirSync(cache, { recursive: true });
  const stamp = join(cache, `${name}.json`);
  const path = join(cache, `${name}.git`);
  if (existsSync(stamp) && existsSync(path)) {
    const facts = JSON.parse(readFileSync(stamp, 'utf8')) as CorpusFacts;
    if (facts.recipe === RECIPE) return { ...facts, path };
  }
  log(`making corpus ${name} in ${cache}`);
  const partial = join(cache, `${name}.git.partial`);
  for (const stale of [stamp, path, partial]) rmSync(stale, { recursive: true, force: true });
  const sources = await makers[name](partial, cache);
  renameSync(partial, path);
  const facts = await describe(name, path, sources);
  writeFileSync(`${stamp}.partial`, JSON.stringify(facts, null, 2) + '\n');
  renameSync(`${stamp}.partial`, stamp);
  for (const branch of facts.branches) {
    log(`  ${name} ${branch.name}: ${branch.files} files, ${branch.bytes} bytes, commit ${branch.commit}`);
    if (branch.name === 'v6.12' && branch.files !== LINUX_612_FILES) {
      log(
        `  note: ${branch.files} files, where the package that the published figures were measured with has ${LINUX_612_FILES}`,
      );
    }
  }
  return facts;
}

async function describe(name: CorpusName, path: string, sources: string[]): Promise<CorpusFacts> {
  const branches: CorpusFacts['branches'] = [];
  const refs = await git([
    '--git-dir',
    path,
    'for-each-ref',
    '--format=%(refname:short) %(objectname) %(tree)',
    'refs/heads',
  ]);
  for (const line of refs.trim().split('\n')) {
    const [branch = '', commit = '', tree = ''] = line.split(' ');
    let files = 0;
    let bytes = 0;
    const listing = await git(['--git-dir', path, 'ls-tree', '-r', '-l', commit]);
    for (const entry of listing.split('\n')) {
      const size = /^\d+ blob [0-9a-f]+ +(\d+)\t/.exec(entry)?.[1];
      if (size === undefined) continue;
      files++;
      bytes += Number(size);
    }
    branches.push({ name: branch, commit, tree, files, bytes });
  }
  const counts = await git(['--git-dir', path, 'count-objects', '-v']);
  const count = (key: string): number => Number(new RegExp(`^${key}: (\\d+)$`, 'm').exec(counts)?.[1] ?? Number.NaN);
  const packFolder = join(path, 'objects', 'pack');
  const packs = readdirSync(packFolder).filter((file) => file.endsWith('.pack'));
  return {
    name,
    recipe: RECIPE,
    path,
    branches,
    packs: packs.length,
    packBytes: packs.reduce((sum, file) => sum + statSync(join(packFolder, file)).size, 0),
    objects: count('in-pack') + count('count'),
    sources,
    gitVersion: (await git(['--version'])).trim(),
  };
}

/** Two commits, v6.1 and its child v6.12, packed with git's default delta settings as a server keeps a repository. */
async function makeLinux(repository: string, cache: string): Promise<string[]> {
  await git(['init', '-q', '--bare', '-b', 'v6.12', repository]);
  const sources: string[] = [];
  let parent: string | undefined;
  for (const [version, date] of [
    ['6.1', '1670800000 +0000'],
    ['6.12', '1731800000 +0000'],
  ] as const) {
    const { tarball, source } = await linuxTarball(version, cache);
    sources.push(source);
    const tree = join(cache, `linux-${version}.partial`);
    rmSync(tree, { recursive: true, force: true });
    mkdirSync(tree);
    await run('tar', ['-xJf', tarball, '-C', tree, '--strip-components=1', '--no-same-owner']);
    rmSync(join(repository, 'index'), { force: true });
    // -f: Linux's own .gitignore files hide some of its tracked files. Loose objects are stored plain because the repack
    // below compresses everything again.
    await git([
      ...['--git-dir', repository, '--work-tree', tree],
      ...[
        '-c',
        'core.bare=false',
        '-c',
        'core.autocrlf=false',
        '-c',
        'core.fileMode=true',
        '-c',
        'core.looseCompression=0',
      ],
      ...['add', '-f', '--all', '.'],
    ]);
    rmSync(tree, { recursive: true, force: true });
    const treeId = (await git(['--git-dir', repository, 'write-tree'])).trim();
    parent = await commit(repository, treeId, `Linux ${version}`, date, parent);
    await git(['--git-dir', repository, 'update-ref', `refs/heads/v${version}`, parent]);
  }
  rmSync(join(repository, 'index'), { force: true });
  await git(['--git-dir', repository, '-c', 'pack.threads=2', 'repack', '-adfq']);
  await git(['--git-dir', repository, 'prune-packed', '-q']);
  await git(['--git-dir', repository, 'pack-refs', '--all']);
  return sources;
}

/** What a fetch of v6.12 at depth 1 leaves: one pack, as a server sends it. */
async function makeLinuxDepth1(repository: string): Promise<string[]> {
  const linux = await corpus('linux');
  await git([
    ...['-c', 'pack.threads=2', 'clone', '-q', '--bare', '--depth', '1', '--no-local', '--no-tags', '-b', 'v6.12'],
    ...[pathToFileURL(linux.path).href, repository],
  ]);
  return linux.sources;
}

async function commit(
  repository: string,
  tree: string,
  message: string,
  date: string,
  parent?: string,
): Promise<string> {
  const args = [
    '--git-dir',
    repository,
    'commit-tree',
    tree,
    '-m',
    message,
    ...(parent === undefined ? [] : ['-p', parent]),
  ];
  const person = { NAME: 'Benchmark', EMAIL: 'benchmark@example.invalid', DATE: date };
  const env = gitEnvironment();
  for (const [key, value] of Object.entries(person)) {
    env[`GIT_AUTHOR_${key}`] = value;
    env[`GIT_COMMITTER_${key}`] = value;
  }
  return (await git(args, { env })).trim();
}

/** Finds the tarball of Debian's linux-source-VERSION where the installed package puts it, or downloads the package. */
async function linuxTarball(version: string, cache: string): Promise<{ tarball: string; source: string }> {
  const name = `linux-source-${version}`;
  const file = `/usr/src/${name}.tar.xz`;
  if (existsSync(file)) {
    const packageVersion = await run('dpkg-query', ['-W', '-f', '${Version}', name]).catch(() => 'unknown version');
    return { tarball: file, source: `${name} ${packageVersion} sha256:${await sha256(file)}` };
  }
  const folder = join(cache, 'packages', name);
  const tarball = join(folder, file);
  const versionFile = join(folder, 'version');
  if (!existsSync(versionFile)) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    try {
      await run('apt-get', ['download', '-qq', name], { cwd: folder });
    } catch (cause) {
      throw new Error(
        `cannot get Debian's package ${name}: on a Debian machine, run "apt-get update" first; elsewhere put its tarball at ${file}`,
        { cause },
      );
    }
    const deb = readdirSync(folder).find((entry) => entry.endsWith('.deb'));
    if (deb === undefined) throw new Error(`apt-get download ${name} left no .deb in ${folder}`);
    await run('dpkg-deb', ['-x', deb, '.'], { cwd: folder });
    const packageVersion = (await run('dpkg-deb', ['-f', deb, 'Version'], { cwd: folder })).trim();
    rmSync(join(folder, deb));
    writeFileSync(versionFile, packageVersion);
  }
  return { tarball, source: `${name} ${readFileSync(versionFile, 'utf8')} sha256:${await sha256(tarball)}` };
}

function sha256(file: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const hash = createHash('sha256');
    createReadStream(file)
      .on('data', (chunk) => hash.update(chunk))
      .on('error', reject)
      .on('end', () => {
        resolve(hash.digest('hex'));
      });
  });
}

/**
 * One commit on main with the given number of files, the same on every machine: source-like text in nested folders, with
 * some executables, binary files and symbolic links. Sizes follow a lognormal law like those of real source trees
 * (Linux 6.12: median 4.5 KB, mean 16 KB).
 */
async function makeSynthesized(repository: string, files: number): Promise<string[]> {
  await git(['init', '-q', '--bare', '-b', 'main', repository]);
  const random = generator(files);
  const stream: Buffer[] = [
    Buffer.from(
      'commit refs/heads/main\ncommitter Benchmark <benchmark@example.invalid> 1731800000 +0000\ndata 12\nSynthesized\n\n',
    ),
  ];
  const word = (): string => {
    let letters = '';
    for (let left = 2 + Math.floor(random() * 9); left > 0; left--)
      letters += String.fromCharCode(97 + Math.floor(random() * 26));
    return letters;
  };
  const vocabulary = Array.from({ length: 2_000 }, word);
  const pick = (): string => vocabulary[Math.floor(random() * random() * vocabulary.length)] ?? 'word';
  const text = (bytes: number): Buffer => {
    let content = '';
    while (content.length < bytes) {
      let line = '    '.repeat(Math.floor(random() * 4));
      while (line.length < 30 + random() * 60) line += `${pick()}${random() < 0.2 ? '(' : ' '}`;
      content += `${line}\n`;
    }
    return Buffer.from(content);
  };
  for (let n = 0; n < files; n++) {
    // Twelve files a folder, three levels deep (Linux 6.12: fifteen files a folder).
    const group = Math.floor(n / 12);
    const folder = files < 100 ? ['', 'src/', 'test/'][n % 3]! : `d${group % 8}/s${(group >> 3) % 10}/m${group}/`;
    const path = `${folder}${pick()}-${n}`;
    const kind = n % 50;
    const bytes = Math.min(2_000_000, Math.round(Math.exp(8.4 + 1.4 * gaussian(random))));
    if (kind === 49) {
      addFile(stream, '120000', `${path}.link`, Buffer.from(`../${pick()}`));
    } else if (kind === 48) {
      addFile(
        stream,
        '100644',
        `${path}.bin`,
        Buffer.from(Uint8Array.from({ length: bytes }, () => Math.floor(random() * 256))),
      );
    } else {
      addFile(stream, kind % 25 === 7 ? '100755' : '100644', `${path}.c`, text(bytes));
    }
  }
  await git(['--git-dir', repository, 'fast-import', '--quiet'], { input: Buffer.concat(stream) });
  await git(['--git-dir', repository, '-c', 'pack.threads=2', 'repack', '-adfq']);
  await git(['--git-dir', repository, 'pack-refs', '--all']);
  return ['synthesized'];
}

/** One commit on main of files with a line each, all different, in the pack that fast-import leaves. */
async function makeSmallFiles(repository: string, files: number, pathOf: (n: number) => string): Promise<string[]> {
  await git(['init', '-q', '--bare', '-b', 'main', repository]);
  const head =
    'commit refs/heads/main\ncommitter Benchmark <benchmark@example.invalid> 1731800000 +0000\ndata 11\nSmall files\n';
  const stream: Buffer[] = [Buffer.from(head)];
  let text = '';
  for (let n = 0; n < files; n++) {
    const line = `this is file ${n}\n`;
    text += `M 100644 inline ${pathOf(n)}\ndata ${line.length}\n${line}\n`;
    if (n % 10_000 !== 9_999 && n < files - 1) continue;
    stream.push(Buffer.from(text));
    text = '';
  }
  await git(['--git-dir', repository, 'fast-import', '--quiet'], { input: Buffer.concat(stream) });
  await git(['--git-dir', repository, 'pack-refs', '--all']);
  return ['synthesized'];
}

/** One commit on main of pointers, and the files of random bytes that they stand for in the store `lfs` of the repository. */
async function makeLfs(repository: string, files: number, bytes: number): Promise<string[]> {
  await git(['init', '-q', '--bare', '-b', 'main', repository]);
  const stream: Buffer[] = [
    Buffer.from(
      'commit refs/heads/main\ncommitter Benchmark <benchmark@example.invalid> 1731800000 +0000\ndata 10\nLFS files\n\n',
    ),
  ];
  addFile(stream, '100644', '.gitattributes', Buffer.from('*.bin filter=lfs diff=lfs merge=lfs -text\n'));
  const random = generator(files);
  for (let n = 0; n < files; n++) {
    const content = Buffer.alloc(bytes);
    for (let at = 0; at + 4 <= bytes; at += 4) content.writeUInt32LE(Math.floor(random() * 2 ** 32), at);
    const oid = createHash('sha256').update(content).digest('hex');
    const folder = join(repository, 'lfs', 'objects', oid.slice(0, 2), oid.slice(2, 4));
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, oid), content);
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${bytes}\n`;
    addFile(stream, '100644', `d${n % 100}/f${n}.bin`, Buffer.from(pointer));
  }
  await git(['--git-dir', repository, 'fast-import', '--quiet'], { input: Buffer.concat(stream) });
  await git(['--git-dir', repository, 'repack', '-adfq']);
  await git(['--git-dir', repository, 'pack-refs', '--all']);
  return ['synthesized'];
}

function addFile(stream: Buffer[], mode: string, path: string, content: Buffer): void {
  stream.push(Buffer.from(`M ${mode} inline ${path}\ndata ${content.length}\n`), content, Buffer.from('\n'));
}

/** mulberry32: a small generator with a seed, so that everybody's corpus has the same commit id. Uniform in [0, 1). */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A sample of the normal law with mean 0 and deviation 1 (Box and Muller). */
function gaussian(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

if (import.meta.main) {
  const wanted = process.argv.slice(2);
  for (const name of wanted) {
    if (!(corpusNames as string[]).includes(name))
      throw new Error(`no corpus ${name}: there are ${corpusNames.join(', ')}`);
  }
  for (const name of corpusNames) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    const facts = await corpus(name, console.log);
    console.log(`${facts.path}: ${facts.packs} pack of ${facts.packBytes} bytes, ${facts.objects} objects`);
    for (const branch of facts.branches) {
      console.log(`  ${branch.name} ${branch.commit} ${branch.files} files ${branch.bytes} bytes`);
    }
  }
}
