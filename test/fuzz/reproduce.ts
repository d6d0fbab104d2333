/**
 * A case as a script for a shell, for whoever looks into a failure with git alone. Both sides begin like this; then one
 * runs the `git checkout` at the end of each step, and the other `parallel-checkout`.
 */
import { configText, fastImportStream, movingCommands, storageCommands } from './build.ts';
import { contentBytes, type Case, type Dirt } from './model.ts';
import { cleanCommand, targetArguments } from './run-case.ts';
import { quote } from './shell.ts';

/** Bytes as an argument of printf. */
function octal(bytes: Buffer): string {
  return bytes
    .toString('latin1')
    .replace(/[^ -$&-[\]-~\n]/g, (byte) =>
      byte === '%' ? '%%' : `\\${byte.charCodeAt(0).toString(8).padStart(3, '0')}`,
    )
    .replaceAll('\n', '\\n')
    .replaceAll("'", `'\\''`);
}

export function reproduction(one: Case): string {
  const lines = [
    `umask ${(one.umask ?? 0o022).toString(8)}`,
    '# FUZZ_NODE is node, FUZZ_DRIVER the path of test/support/filter-driver.js',
    'mkdir -p source/objects/info source/objects/pack source/refs/heads source/refs/tags source/info outside',
    `printf 'ref: refs/heads/unborn\\n' > source/HEAD`,
    `printf '${octal(Buffer.from(configText(one), 'latin1'))}' > source/config`,
  ];
  if (one.infoAttributes.length > 0) {
    lines.push(
      `printf '${octal(Buffer.from(`${one.infoAttributes.join('\n')}\n`, 'latin1'))}' > source/info/attributes`,
    );
  }
  const stream = fastImportStream(one);
  lines.push(
    stream.length > 20_000
      ? `# ${stream.length} bytes for fast-import are left out here: run the case with --keep and look for 'stream'`
      : `printf '${octal(stream)}' > stream`,
    `(cd source; ${storageCommands(one).join('; ')})`,
    ...(one.oddTree === undefined ? [] : [`# then the tree of c2 is made by hand: ${JSON.stringify(one.oddTree)}`]),
    ...(one.globalAttributes ?? []).map((line) => `# in the user's attributes: ${line}`),
    ...(one.hooks === undefined ? [] : [`# hooks: ${JSON.stringify(one.hooks)}`]),
    ...(movingCommands(one).length === 0 ? [] : [`(cd source; ${movingCommands(one).join('; ')})`]),
    'mkdir tree; cp -a source tree/.git; cd tree',
  );
  if (one.start !== null) lines.push(`git checkout -q --force c${one.start}`);
  for (const step of one.steps) {
    lines.push(...step.dirt.map(dirtLine));
    if (step.indexTime === 'young') lines.push('touch -d "+10 seconds" .git/index');
    if (step.indexTime === 'old') lines.push('touch -d @1000000000 .git/index');
    if (step.clean !== undefined) lines.push(cleanCommand(step.clean));
    lines.push(
      `git -c checkout.workers=${step.gitWorkers} checkout --force ${targetArguments(step).join(' ')}   # ours: ${step.workers} workers`,
    );
  }
  return lines.join('\n');
}

function dirtLine(dirt: Dirt): string {
  const path = 'path' in dirt ? quote(dirt.path) : '';
  switch (dirt.do) {
    case 'write': {
      const content = contentBytes(dirt.content);
      return content.length > 1000
        ? `# write ${JSON.stringify(dirt.content)} to ${path}`
        : `printf '${octal(content)}' > ${path}`;
    }
    case 'touch':
      return `touch -d @${dirt.time} ${path}`;
    case 'chmod':
      return `chmod ${dirt.mode.toString(8)} ${path}`;
    case 'remove':
      return `rm -rf ${path}`;
    case 'directory':
      return `rm -rf ${path}; mkdir -p ${path}${dirt.file ? `; echo untracked > ${path}/untracked` : ''}`;
    case 'link':
      return `rm -rf ${path}; ln -s ${quote(dirt.target)} ${path}`;
    case 'move':
      return `mv ${path} ${quote(dirt.to)}; ln -s ${quote(dirt.to)} ${path}`;
    default:
      return `# ${JSON.stringify(dirt)}`;
  }
}
