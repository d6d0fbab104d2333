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
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { COMMITS, contentAt, contentBytes, treeOf, type Case } from './model.ts';
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

function blobOid(one: Case, content: Buffer): string {
  return createHash(one.hash).update(`blob ${content.length}\0`).update(content).digest('hex');
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
  if (then.includes('alternates')) {
    commands.push(
      'mkdir ../alternate && mv objects ../alternate/ && mkdir -p objects/info objects/pack',
      `echo ../../../../alternate/objects > objects/info/alternates`,
    );
  }
  return commands;
}

export async function build(one: Case, root: string, shell: Shell): Promise<void> {
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
  writeFileSync(join(root, 'stream'), fastImportStream(one));
  for (const side of SIDES) {
    const outside = join(root, side, 'outside');
    mkdirSync(join(outside, 'a'), { recursive: true });
    mkdirSync(join(root, side, 'tree'));
    for (const name of ['b', 'a/b', 'a/a']) writeFileSync(join(outside, name), 'not yours\n');
  }
  const copies = SIDES.map((side) => `cp -a . ../${side}/tree/.git`);
  await shell.must(source, [...storageCommands(one), ...copies].join(' &&\n'));
}
