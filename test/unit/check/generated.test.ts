// What is generated, or must agree with something else: the README's tables, the bundles, the lock file. Each check is seen
// failing on a planted difference.
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { differences } from '../../../scripts/build.ts';
import { insertTables, tables, type ActionMetadata } from '../../../scripts/docs.ts';
import { licenceFile, readPackage } from '../../../scripts/licenses.ts';

const ROOT = join(import.meta.dirname, '../../..');

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'generated-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

describe('README tables', () => {
  it('change with action.yml', async () => {
    const metadata = parse(await readFile(join(ROOT, 'action.yml'), 'utf8')) as ActionMetadata;
    const readme = await readFile(join(ROOT, 'README.md'), 'utf8');
    const before = insertTables(readme, tables(metadata));
    const planted = { ...metadata.inputs, planted: { description: 'one | two\nthree', default: 3 } };
    const after = insertTables(readme, tables({ ...metadata, inputs: planted }));
    expect(after).not.toBe(before);
    expect(after).toContain('| `planted` | `3` | one \\| two three |');
  });

  it('need their markers', () => {
    expect(() => insertTables('no markers', { inputs: '' })).toThrow('begin inputs');
  });
});

describe('the comparison of bundles', () => {
  it('names what differs, is missing or is left over', async () => {
    const [left, right] = [join(folder, 'left'), join(folder, 'right')];
    for (const [side, name, content] of [
      [left, 'main/index.js', 'same'],
      [right, 'main/index.js', 'same'],
      [left, 'post/index.js', 'old'],
      [right, 'post/index.js', 'new'],
      [left, 'cli/stale.js', ''],
      [right, 'worker/index.js', ''],
    ] as const) {
      await mkdir(join(side, name, '..'), { recursive: true });
      await writeFile(join(side, name), content);
    }
    expect(differences(left, right)).toEqual(['cli/stale.js', 'post/index.js', 'worker/index.js']);
    expect(differences(left, left)).toEqual([]);
    expect(differences(join(folder, 'absent'), right)).toHaveLength(3);
  });
});

describe('licences', () => {
  it('refuse a package whose licence was not agreed to', async () => {
    await writeFile(join(folder, 'package.json'), JSON.stringify({ name: 'x', version: '1.0.0', license: 'GPL-3.0' }));
    expect(() => readPackage(folder)).toThrow('x@1.0.0: licence "GPL-3.0"');
  });

  it('carry the text of the package', async () => {
    await writeFile(join(folder, 'package.json'), JSON.stringify({ name: 'x', version: '1.0.0', license: 'MIT' }));
    await writeFile(join(folder, 'LICENSE.md'), 'line one\r\nline two\r\n');
    expect(licenceFile([readPackage(folder)])).toContain('x 1.0.0\nMIT\n\nline one\nline two\n');
  });
});

describe('package-lock.json', () => {
  interface Lock {
    packages: Record<string, { hasInstallScript?: boolean; resolved?: string; integrity?: string }>;
  }
  const read = async <T>(name: string): Promise<T> => JSON.parse(await readFile(join(ROOT, name), 'utf8')) as T;

  it('has install scripts only where package.json allows them', async () => {
    const { packages } = await read<Lock>('package-lock.json');
    const { allowScripts } = await read<{ allowScripts: Record<string, boolean> }>('package.json');
    const withScript = Object.entries(packages).filter(([, entry]) => entry.hasInstallScript);
    expect(withScript.map(([path]) => path)).toEqual(['node_modules/node']);
    expect(Object.keys(allowScripts).filter((name) => allowScripts[name])).toEqual(['node']);
  });

  it('names no host and hashes every package', async () => {
    const { packages } = await read<Lock>('package-lock.json');
    const entries = Object.entries(packages).filter(([path]) => path !== '');
    expect(entries.length).toBeGreaterThan(50);
    expect(entries.filter(([, entry]) => entry.resolved !== undefined || entry.integrity === undefined)).toEqual([]);
  });

  it('pins every direct dependency to one version', async () => {
    const { dependencies, devDependencies } = await read<Record<string, Record<string, string>>>('package.json');
    const versions = Object.entries({ ...dependencies, ...devDependencies });
    expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
  });
});

describe('dependencies', () => {
  /** Those of `names` that no source imports. */
  function unused(names: readonly string[], sources: readonly string[]): string[] {
    return names.filter(
      (name) => !sources.some((source) => source.includes(`'${name}'`) || source.includes(`'${name}/`)),
    );
  }

  it('are all imported by the sources', async () => {
    const { dependencies } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>;
    };
    const files = (await readdir(join(ROOT, 'src'), { recursive: true })).filter((name) => name.endsWith('.ts'));
    const sources = await Promise.all(files.map((name) => readFile(join(ROOT, 'src', name), 'utf8')));
    expect(unused([...Object.keys(dependencies), '@actions/planted'], sources)).toEqual(['@actions/planted']);
  });
});
