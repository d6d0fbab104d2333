// The licences of what this project ships. `npm run licenses` lists every production dependency with its licence and fails
// on one that has not been agreed to; the build writes the texts of the packages that really ended up in the bundles.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

// Licences that let us ship the code in a bundle under MIT, with no more to do than to keep the notice.
const AGREED = new Set(['MIT', 'ISC', '0BSD', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', 'BlueOak-1.0.0']);

/** One package of which code is shipped. */
export interface ShippedPackage {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
  /** The text of its licence file with LF line ends; empty when the package has none. */
  readonly text: string;
}

interface PackageJson {
  name?: string;
  version?: string;
  license?: string;
}

interface LockFile {
  packages: Record<string, { dev?: boolean; optional?: boolean; link?: boolean }>;
}

/**
 * Reads name, version and licence of the package in a folder.
 *
 * @throws Error when its package.json has no name or version, or its licence is not one we agreed to.
 */
export function readPackage(folder: string): ShippedPackage {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as PackageJson;
  if (name === undefined || version === undefined) throw new Error(`${folder}/package.json has no name or version`);
  if (license === undefined || !AGREED.has(license)) {
    throw new Error(`${name}@${version}: licence "${license ?? 'none'}" is not in the list of scripts/licenses.ts`);
  }
  const file = readdirSync(folder)
    .filter((entry) => /^(licen[cs]e|copying)(\.(md|txt))?$/i.test(entry))
    .sort()[0];
  const text = file === undefined ? '' : readFileSync(join(folder, file), 'utf8').replaceAll(/\r\n?/g, '\n').trim();
  return { name, version, licence: license, text };
}

/** The licence file that goes beside the bundles: one section a package, in the order of their names. */
export function licenceFile(packages: readonly ShippedPackage[]): string {
  const sections = [...packages]
    .sort((a, b) => (`${a.name}@${a.version}` < `${b.name}@${b.version}` ? -1 : 1))
    .map(
      ({ name, version, licence, text }) =>
        `${name} ${version}\n${licence}\n\n${text || '(no licence file in the package)'}\n`,
    );
  const rule = `\n${'-'.repeat(80)}\n\n`;
  return ['Code of these packages is part of the bundles in this folder.\n', ...sections].join(rule);
}

function main(): void {
  const root = join(import.meta.dirname, '..');
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as LockFile;
  const folders = Object.entries(lock.packages)
    .filter(([path, entry]) => path !== '' && entry.dev !== true && entry.link !== true)
    .filter(([path, entry]) => entry.optional !== true || existsSync(join(root, path)))
    .map(([path]) => join(root, path));
  if (folders.length === 0) throw new Error('package-lock.json lists no production dependency');
  for (const { name, version, licence } of folders.map(readPackage)) console.log(`${name} ${version} ${licence}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
