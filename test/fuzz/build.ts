/**
 * Makes the repository of a case: all commits by one `git fast-import`, then what the case wants done to the object
 * database, then two copies that are the same but for where they are.
 *
 *     ROOT/source/       the git directory that is copied
 *     ROOT/alternate/    its objects, when they are elsewhere
 *     ROOT/git/tree      what git works in, with .git in it
 *     ROOT/git/outside   files that no checkout may touch
 *     ROOT/ours/...      the same for ours
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { COMMITS, contentAt, contentBytes, treeOf, type Case, type OddEntry } from './model.ts';
import { quote, type Shell } from './shell.ts';

export const SIDES = ['git', 'ours'] as const;
export type Side = (typeof SIDES)[number];

export const HASH_BYTES = { sha1: 20, sha256: 32 } as const;

/** C-style quotes, as fast-import wants them. */
function quotePath(path: string): string {
  const escaped = path.replace(/["\\]|[^ -~]/g, (byte) => `\\${byte.charCodeAt(0).toString(8).padStart(3, '0')}`);
  return `"${escaped}"`;
}

/** What fast-import reads: branches c0, c1, c2 and tags t0, t1, t2, one commit on top of the other. */
export function fastImportStream(one: Case): Buffer {
  const parts: Buffer[] = [];
  const say = (text: string): void => void parts.push(Buffer.from(text, 'latin1'));
  const data = (bytes: Buffer): void => {
    say(`data ${bytes.length}\n`);
    parts.push(bytes);
    say('\n');
  };
  for (let commit = 0; commit < COMMITS; commit++) {
    say(`commit refs/heads/c${commit}\nmark :${commit + 1}\n`);
    say(`committer C O Mitter <committer@example.com> ${1_700_000_000 + commit} +0000\n`);
    data(Buffer.from(`commit ${commit}\n`));
    if (commit > 0) say(`from :${commit}\n`);
    say('deleteall\n');
    for (const [path, entry] of treeOf(one, commit)) {
      if (entry.kind === 'gitlink') {
        say(`M 160000 ${String(entry.digit % 10).repeat(2 * HASH_BYTES[one.hash])} ${quotePath(path)}\n`);
        continue;
      }
      const mode = entry.kind === 'link' ? '120000' : entry.executable === true ? '100755' : '100644';
      say(`M ${mode} inline ${quotePath(path)}\n`);
      data(entry.kind === 'link' ? Buffer.from(entry.target, 'latin1') : contentBytes(entry.content));
    }
    say(`reset refs/tags/t${commit}\nfrom :${commit + 1}\n\n`);
    if (one.storage.packs === 'several') say('checkpoint\n');
  }
  say('done\n');
  return Buffer.concat(parts);
}

function objectBytes(type: string, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${type} ${body.length}\0`), body]);
}

function blobOid(one: Case, content: Buffer): string {
  return createHash(one.hash).update(objectBytes('blob', content)).digest('hex');
}

/** Writes the odd tree as loose objects, and the last commit with it. */
function writeOddTree(one: Case, entries: readonly OddEntry[], source: string): void {
  const write = (type: string, body: Buffer): Buffer => {
    const whole = objectBytes(type, body);
    const oid = createHash(one.hash).update(whole).digest();
    const hex = oid.toString('hex');
    mkdirSync(join(source, 'objects', hex.slice(0, 2)), { recursive: true });
    const path = join(source, 'objects', hex.slice(0, 2), hex.slice(2));
    if (!existsSync(path)) writeFileSync(path, deflateSync(whole), { mode: 0o444 });
    return oid;
  };
  const writeTree = (list: readonly OddEntry[]): Buffer =>
    write(
      'tree',
      Buffer.concat(
        list.flatMap(({ mode, name, is }) => {
          let oid: Uint8Array = Buffer.alloc(HASH_BYTES[one.hash], is === 'commit' ? 0x12 : 0);
          if (typeof is !== 'string') {
            oid = 'blob' in is ? write('blob', Buffer.from(is.blob, 'latin1')) : writeTree(is.tree);
          }
          return [Buffer.from(`${mode} ${name}\0`, 'latin1'), oid];
        }),
      ),
    );
  const person = 'C O Mitter <committer@example.com> 1700000000 +0000';
  const tree = writeTree(entries).toString('hex');
  const commit = write('commit', Buffer.from(`tree ${tree}\nauthor ${person}\ncommitter ${person}\n\nodd\n`));
  for (const ref of [`heads/c${COMMITS - 1}`, `tags/t${COMMITS - 1}`]) {
    writeFileSync(join(source, 'refs', ref), `${commit.toString('hex')}\n`);
  }
}

/** The repository's own configuration, before that of the case. */
export function configText(one: Case): string {
  const lines = ['[core]', `\trepositoryformatversion = ${one.hash === 'sha1' ? 0 : 1}`, '\tbare = false'];
  if (!('core.fileMode' in one.config)) lines.push('\tfilemode = true');
  lines.push('\tlogallrefupdates = true');
  if (one.hash === 'sha256') lines.push('[extensions]', '\tobjectFormat = sha256');
  // One file is enough for threads.
  lines.push('[checkout]', '\tthresholdForParallelism = 0');
  for (const [key, value] of Object.entries(one.config)) {
    const [, section = '', subsection, name = ''] = /^([^.]+)\.(?:(.+)\.)?([^.]+)$/.exec(key) ?? [];
    lines.push(subsection === undefined ? `[${section}]` : `[${section} "${subsection}"]`);
    lines.push(`\t${name} = "${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`);
  }
  return `${lines.join('\n')}\n`;
}

/** The commands, run in `source/`, that make the case's object database; the stream is in ../stream. */
export function storageCommands(one: Case): string[] {
  const { packs, then, replace, missing } = one.storage;
  const git = 'git --git-dir=.';
  const limit = packs === 'loose' ? 1_000_000 : 1;
  const commands = [`${git} -c fastimport.unpackLimit=${limit} fast-import --quiet --done < ../stream`];
  for (const what of then) {
    switch (what) {
      case 'repack-ref-deltas':
        commands.push(`${git} -c repack.useDeltaBaseOffset=false repack -q -a -d -f`);
        break;
      case 'repack-index-v1':
        commands.push(`${git} -c pack.indexVersion=1 repack -q -a -d`);
        break;
      case 'midx':
        // Refused where there is no pack.
        commands.push(`{ ${git} multi-pack-index write --no-progress || :; }`);
        break;
      case 'alternates':
        break;
      case 'pack-refs':
        commands.push(`${git} pack-refs --all`);
        break;
    }
  }
  if (replace !== null) {
    const old = contentAt(one, 1, replace.path);
    if (old !== null) {
      commands.push(
        'mkdir -p refs/replace',
        `printf %s ${quote(replace.content)} | ${git} hash-object -w --stdin > refs/replace/${blobOid(one, old)}`,
      );
    }
  }
  if (missing !== null && packs === 'loose') {
    const content = contentAt(one, 1, missing);
    const oid = content === null ? null : blobOid(one, content);
    if (oid !== null) commands.push(`rm -f objects/${oid.slice(0, 2)}/${oid.slice(2)}`);
  }
  return commands;
}

/** The commands that take what is in `source/` elsewhere, the last before it is copied. */
export function movingCommands(one: Case): string[] {
  const commands: string[] = [];
  const { then } = one.storage;
  // What is not there cannot be fetched.
  const promisor = one.storage.promisor === true && one.storage.missing === null && one.oddTree === undefined;
  if (then.includes('alternates') && !promisor) {
    commands.push(
      'mkdir ../alternate && mv objects ../alternate/ && mkdir -p objects/info objects/pack',
      `echo ../../../../alternate/objects > objects/info/alternates`,
    );
  }
  if (promisor) {
    commands.push(
      'cd .. && mv source remote && cp remote/config source-config',
      'git -C remote config uploadpack.allowFilter true && git -C remote config uploadpack.allowAnySHA1InWant true',
      'git clone -q --bare --template= --filter=blob:none "file://$PWD/remote" source',
      `git config -f source-config remote.origin.url "file://$PWD/remote"`,
      'git config -f source-config remote.origin.promisor true',
      'git config -f source-config remote.origin.partialclonefilter blob:none',
      'mv source-config source/config && cd source && mkdir -p info',
      'echo "ref: refs/heads/unborn" > HEAD',
      ...(one.infoAttributes.length > 0 ? ['cp ../remote/info/attributes info/'] : []),
      ...(one.hooks === undefined ? [] : ['cp -a ../remote/hooks .']),
    );
  }
  return commands;
}

/** @param home where the user's own files are */
export async function build(one: Case, root: string, home: string, shell: Shell): Promise<void> {
  rmSync(root, { recursive: true, force: true });
  const source = join(root, 'source');
  for (const folder of ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags', 'info']) {
    mkdirSync(join(source, folder), { recursive: true });
  }
  writeFileSync(join(source, 'HEAD'), 'ref: refs/heads/unborn\n');
  writeFileSync(join(source, 'config'), configText(one));
  if (one.infoAttributes.length > 0) {
    writeFileSync(join(source, 'info', 'attributes'), Buffer.from(`${one.infoAttributes.join('\n')}\n`, 'latin1'));
  }
  for (const [name, status] of Object.entries(one.hooks ?? {})) {
    mkdirSync(join(source, 'hooks'), { recursive: true });
    const script = `#!/bin/sh\necho ${name} "$@" >> .git/hook-log\nexit ${status}\n`;
    writeFileSync(join(source, 'hooks', name), script, { mode: 0o755 });
  }
  const global = join(home, 'xdg', 'git', 'attributes');
  rmSync(global, { force: true });
  if (one.globalAttributes !== undefined) {
    mkdirSync(join(global, '..'), { recursive: true });
    writeFileSync(global, Buffer.from(`${one.globalAttributes.join('\n')}\n`, 'latin1'));
  }
  writeFileSync(join(root, 'stream'), fastImportStream(one));
  for (const side of SIDES) {
    const outside = join(root, side, 'outside');
    mkdirSync(join(outside, 'a'), { recursive: true });
    mkdirSync(join(root, side, 'tree'));
    for (const name of ['b', 'a/b', 'a/a']) writeFileSync(join(outside, name), 'not yours\n');
  }
  const copies = SIDES.map((side) => `cp -a . ../${side}/tree/.git`);
  const storage = storageCommands(one);
  if (one.oddTree !== undefined) {
    await shell.must(source, storage.splice(0).join(' &&\n'));
    writeOddTree(one, one.oddTree, source);
  }
  await shell.must(source, [...storage, ...movingCommands(one), ...copies].join(' &&\n'));
}
