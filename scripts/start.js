// `npm start [-- URL_OR_PATH]`: checks out a repository, by default this one, into a fresh temporary folder and prints the
// report. Plain JavaScript and the committed bundles, so that it runs on a fresh clone with nothing installed.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const program = join(root, 'dist', 'cli', 'index.js');
const [source = root, ...options] = process.argv.slice(2);

if (!existsSync(program)) {
  console.error('dist/cli/index.js is missing; build it with: npm ci && npm run build');
  process.exitCode = 1;
} else {
  const target = join(mkdtempSync(join(tmpdir(), 'parallel-checkout-')), 'tree');
  const { status, error } = spawnSync(process.execPath, [program, 'clone', source, target, ...options], {
    stdio: 'inherit',
  });
  if (error) throw error;
  if (status === 0) console.log(`The working tree is in ${target}`);
  process.exitCode = status ?? 1;
}
