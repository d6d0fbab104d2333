import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { LOOSE, missing, ObjectDatabase } from '../../../src/engine/odb/object-database.ts';
import { ObjectReader } from '../../../src/engine/odb/object-reader.ts';
import { oidFromHex, SHA1 } from '../../../src/engine/oid.ts';
import { BLOB, TREE } from '../../../src/engine/pack/entry.ts';
import { deltaSize, entryHeader, plainEntry, REF_DELTA, writePack } from '../../support/pack-writer.ts';
import { randomBytes } from '../../support/random.ts';
import { GitRepository } from '../../support/repository.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const folder = temporaryFolder('odb');
/** Of this process; only Linux tells. */
const openFiles = (): number => (process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0);

let cases = 0;
const fresh = (): string => {
  const directory = join(folder, `${cases++}`);
  mkdirSync(directory);
  return directory;
};

function withDatabase(directories: string[], run: (odb: ObjectDatabase, warnings: string[]) => void): void {
  const warnings: string[] = [];
  const odb = ObjectDatabase.open(directories, SHA1, (line) => warnings.push(line));
  try {
    run(odb, warnings);
  } finally {
    odb.close();
  }
}

const oid = (digit: string): string => digit.repeat(40);
const blob = (digit: string, text = `content ${digit}`): { oid: string; bytes: Buffer } => ({
  oid: oid(digit),
  bytes: plainEntry(BLOB, Buffer.from(text)),
});
const text = (odb: ObjectDatabase, hex: string): string => Buffer.from(odb.read(oidFromHex(hex))).toString();

describe('ObjectDatabase', () => {
  it('finds objects in several packs of several directories, and loose ones', () => {
    const [one, two] = [fresh(), fresh()];
    writePack(one, [blob('1'), blob('2')]);
    writePack(one, [blob('3')]);
    writePack(two, [blob('4'), blob('5')]);
    const repository = new GitRepository(folder, 'loose');
    const looseOid = repository.text(['hash-object', '-w', '--stdin'], { input: 'loose' });
    const objects = join(repository.gitDir, 'objects');
    withDatabase([one, two, objects], (odb, warnings) => {
      expect(warnings).toEqual([]);
      expect([odb.packs.length, odb.packedObjects]).toEqual([0, 5]);
      for (let round = 0; round < 3; round++) {
        for (const digit of ['5', '1', '3', '2', '4']) expect(text(odb, oid(digit))).toBe(`content ${digit}`);
        expect(text(odb, looseOid)).toBe('loose');
        expect(odb.pack).toBe(LOOSE);
      }
      expect(odb.reader.type).toBe(BLOB);
      expect([odb.packs.length, warnings]).toEqual([3, []]);
    });
  });

  it('gives places that other readers can use', () => {
    const directory = fresh();
    writePack(directory, [blob('1'), blob('2')]);
    withDatabase([directory], (odb) => {
      expect(odb.find(oidFromHex(oid('2')), 0)).toBe(true);
      for (const useHandle of [true, false]) {
        const reader = new ObjectReader(odb.packs, odb.directories, SHA1, useHandle);
        reader.open(odb.pack, odb.offset, oidFromHex(oid('2')), 0);
        expect([reader.type, reader.size, reader.isPlain]).toEqual([BLOB, 9, true]);
        expect(Buffer.from(reader.read()).toString()).toBe('content 2');
        reader.close();
      }
    });
  });

  it('knows without looking that no loose object can be there', () => {
    const directory = fresh();
    writePack(directory, [blob('1')]);
    withDatabase([directory], (odb) => {
      expect(odb.find(oidFromHex(oid('9')), 0)).toBe(false);
    });
    mkdirSync(join(directory, 'ab'));
    withDatabase([directory], (odb) => {
      expect(odb.find(oidFromHex(oid('9')), 0)).toBe(true);
      expect(odb.pack).toBe(LOOSE);
    });
  });

  it('says which object is missing', () => {
    const directory = fresh();
    for (const withFolder of [false, true]) {
      if (withFolder) mkdirSync(join(directory, '99'));
      withDatabase([directory], (odb) => {
        const at = Buffer.concat([Buffer.from('xx'), oidFromHex(oid('9'))]);
        expect(() => odb.read(at, 2)).toThrow(missing(oidFromHex(oid('9')), 0, SHA1));
      });
    }
    expect(missing(oidFromHex(oid('9')), 0, SHA1)).toMatchObject({
      code: 'object-missing',
      subject: { oid: oid('9') },
    });
  });

  it('leaves a damaged pack out, with a warning, and finds its objects elsewhere', () => {
    const [one, two] = [fresh(), fresh()];
    const name = writePack(one, [blob('1'), blob('2')]);
    writePack(one, [blob('3')]);
    writePack(two, [blob('1'), blob('2')]);
    const pack = join(one, 'pack', `pack-${name}`);
    const damages: [string, (bytes: Buffer) => Buffer][] = [
      ['.pack', (bytes) => bytes.subarray(0, -1)],
      ['.pack', () => Buffer.alloc(0)],
      ['.idx', (bytes) => bytes.subarray(0, 1000)],
    ];
    for (const [ending, damage] of damages) {
      const good = readFileSync(pack + ending);
      writeFileSync(pack + ending, damage(good));
      const open = openFiles();
      withDatabase([one, two], (odb, warnings) => {
        expect(['1', '2', '3'].map((digit) => text(odb, oid(digit)))).toEqual(['content 1', 'content 2', 'content 3']);
        expect(warnings.length).toBe(1);
        expect(warnings[0]).toContain(pack);
      });
      withDatabase([one], (odb) => {
        expect(() => odb.read(oidFromHex(oid('1')))).toThrow('is missing');
        expect(text(odb, oid('3'))).toBe('content 3');
      });
      expect(openFiles()).toBe(open);
      writeFileSync(pack + ending, good);
    }
  });

  it('takes no pack without its index, and no index without its pack', () => {
    const directory = fresh();
    const [first, second] = [writePack(directory, [blob('1')]), writePack(directory, [blob('2')])];
    const packs = join(directory, 'pack');
    renameSync(join(packs, `pack-${first}.idx`), join(packs, 'away'));
    renameSync(join(packs, `pack-${second}.pack`), join(packs, `pack-${second}.pack.tmp`));
    withDatabase([directory], (odb, warnings) => {
      expect(odb.find(oidFromHex(oid('1')), 0)).toBe(false);
      expect([odb.packs.length, odb.packedObjects, warnings]).toEqual([0, 0, []]);
    });
  });

  it('refuses to read whole what no tree or commit can be, before it takes the memory', () => {
    const directory = fresh();
    const claims = Buffer.concat([entryHeader(TREE, 2 ** 30), randomBytes(1, 100)]);
    const noise = plainEntry(BLOB, randomBytes(2, 1_100_000));
    writePack(directory, [{ oid: oid('1'), bytes: claims }, { oid: oid('2'), bytes: noise }, blob('3')]);
    withDatabase([directory], (odb) => {
      const before = process.memoryUsage().arrayBuffers;
      expect(() => odb.read(oidFromHex(oid('1')))).toThrow(
        expect.objectContaining({ code: 'memory', subject: { oid: oid('1') } }),
      );
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2 ** 25);
      expect(odb.read(oidFromHex(oid('2'))).length).toBe(1_100_000);
      expect(text(odb, oid('3'))).toBe('content 3');
    });
  });

  it('lets go of a large object when the next is read', () => {
    const directory = fresh();
    const large = 2 ** 22;
    const digits = ['1', '2', '3', '4', '5', '6'];
    writePack(
      directory,
      digits.map((digit) => ({ oid: oid(digit), bytes: plainEntry(TREE, Buffer.alloc(large, digit)) })),
    );
    withDatabase([directory], (odb) => {
      const seen = digits.map((digit) => {
        const bytes = odb.read(oidFromHex(oid(digit)));
        expect([bytes.length, bytes[0], bytes[large - 1]]).toEqual([large, digit.charCodeAt(0), digit.charCodeAt(0)]);
        return bytes;
      });
      // What was given back has no length any more; Node 20 leaves it to the collector.
      const canFree = 'transfer' in ArrayBuffer.prototype;
      expect(seen.map((bytes) => bytes.length)).toEqual(digits.map((_, i) => (i < 5 && canFree ? 0 : large)));
    });
  });

  it.runIf(process.platform === 'linux')('closes what its reader opened', () => {
    const directory = fresh();
    const base = Buffer.from('a base that is named by its id\n');
    const delta = Buffer.concat([deltaSize(base.length), deltaSize(6), Buffer.from([0x90, 6])]);
    writePack(directory, [
      { oid: oid('1'), bytes: plainEntry(BLOB, base) },
      {
        oid: oid('2'),
        bytes: Buffer.concat([entryHeader(REF_DELTA, delta.length), oidFromHex(oid('1')), deflateSync(delta)]),
      },
    ]);
    mkdirSync(join(directory, '33'));
    writeFileSync(join(directory, '33', '3'.repeat(38)), deflateSync('blob 5\0loose'));
    const open = openFiles();
    withDatabase([directory], (odb) => {
      expect(text(odb, oid('2'))).toBe('a base');
      expect(text(odb, oid('3'))).toBe('loose');
    });
    expect(openFiles()).toBe(open);
  });

  it('tries the pack first that had the last object', () => {
    const directory = fresh();
    // An object in two packs is found in that of its neighbours.
    for (const neighbour of ['1', '2', '3']) writePack(directory, [blob(neighbour), blob('f')]);
    withDatabase([directory], (odb) => {
      for (const digit of ['1', '3', '2', '2', '1', '3']) {
        odb.find(oidFromHex(oid(digit)), 0);
        const { pack } = odb;
        expect(odb.find(oidFromHex(oid('f')), 0)).toBe(true);
        expect(odb.pack).toBe(pack);
        expect(text(odb, oid('f'))).toBe('content f');
      }
      // Each pack is still tried, and once only: a pack that is in the list twice would push another out.
      for (let i = 0; i < 20; i++) for (const digit of ['1', '2', '3']) odb.find(oidFromHex(oid(digit)), 0);
      expect(['1', '2', '3'].map((digit) => text(odb, oid(digit)))).toEqual(['content 1', 'content 2', 'content 3']);
    });
  });

  it.runIf(process.platform === 'linux')('reads from more packs than it may open files', () => {
    const directory = fresh();
    const digits = [...Array(100).keys()].map((i) => i.toString(16).padStart(2, '0'));
    for (const digit of digits) writePack(directory, [{ ...blob('1', `content ${digit}`), oid: digit.repeat(20) }]);
    const module = new URL('../../../src/engine/odb/object-database.ts', import.meta.url).href;
    const script = `
      const { ObjectDatabase } = await import(${JSON.stringify(module)});
      const odb = ObjectDatabase.open([${JSON.stringify(directory)}], { name: 'sha1', oidBytes: 20 }, (line) => console.log('warning', line));
      for (let round = 0; round < 2; round++) {
        for (const digit of ${JSON.stringify(digits)}) {
          const read = Buffer.from(odb.read(Buffer.from(digit.repeat(20), 'hex'))).toString();
          if (read !== 'content ' + digit) console.log(digit, read);
        }
      }
      console.log(odb.packs.length);`;
    // Node itself needs some twenty; all the packs and their indexes need two hundred.
    const { stdout } = spawnSync(
      'sh',
      ['-c', 'ulimit -n 64 && exec "$0" --input-type=module -e "$1"', process.execPath, script],
      { encoding: 'utf8' },
    );
    expect(stdout).toBe('100\n');
  });

  it('reads the directories again when an object is not where it was', () => {
    const directory = fresh();
    const packs = join(directory, 'pack');
    const old = [writePack(directory, [blob('1'), blob('2')]), writePack(directory, [blob('3')])];
    withDatabase([directory], (odb, warnings) => {
      expect(text(odb, oid('1'))).toBe('content 1');
      writePack(directory, [blob('1'), blob('2'), blob('3'), blob('4')]);
      for (const name of old) for (const ending of ['pack', 'idx']) rmSync(join(packs, `pack-${name}.${ending}`));
      // From the open pack, from one that has gone before it was opened, and from one that was not there.
      expect(['2', '3', '4'].map((digit) => text(odb, oid(digit)))).toEqual(['content 2', 'content 3', 'content 4']);
      mkdirSync(join(directory, '55'));
      writeFileSync(join(directory, '55', '5'.repeat(38)), deflateSync('blob 9\0content 5'));
      expect(text(odb, oid('5'))).toBe('content 5');
      expect(() => odb.read(oidFromHex(oid('6')))).toThrow('is missing');
      expect(warnings).toEqual([]);
    });
  });

  it('reads a good copy where another one is damaged, and tells the damage where there is none', () => {
    const [one, two] = [fresh(), fresh()];
    const bad = (digit: string): { oid: string; bytes: Buffer } => ({
      oid: oid(digit),
      bytes: Buffer.concat([entryHeader(BLOB, 9), Buffer.alloc(12, 0xff)]),
    });
    writePack(one, [bad('1'), bad('2'), bad('3'), bad('4')]);
    writePack(one, [blob('1'), blob('9')]);
    writePack(two, [blob('2')]);
    for (const [directory, content] of [
      [one, Buffer.from('not zlib')],
      [two, deflateSync('blob 9\0content 3')],
    ] as const) {
      mkdirSync(join(directory, '33'));
      writeFileSync(join(directory, '33', '3'.repeat(38)), content);
    }
    withDatabase([one, two], (odb) => {
      for (let round = 0; round < 2; round++) {
        expect(['1', '2', '3'].map((digit) => text(odb, oid(digit)))).toEqual(['content 1', 'content 2', 'content 3']);
        expect(() => odb.read(oidFromHex(oid('4')))).toThrow(
          expect.objectContaining({ code: 'object-corrupt', message: expect.stringContaining('entry at') as string }),
        );
      }
    });
  });

  it('compares what it reads with the id, if it is told to', () => {
    const [one, two] = [fresh(), fresh()];
    const hello = 'ce013625030ba8dba906f756967f9e9ca394464a'; // "hello\n"
    writePack(one, [{ oid: hello, bytes: plainEntry(BLOB, Buffer.from('jello\n')) }]);
    const read = (directories: string[], verify: boolean): string => {
      const odb = ObjectDatabase.open(directories, SHA1, () => undefined, { verify });
      try {
        return text(odb, hello);
      } finally {
        odb.close();
      }
    };
    expect(read([one], false)).toBe('jello\n');
    expect(() => read([one], true)).toThrow(
      expect.objectContaining({ code: 'object-corrupt', subject: { oid: hello } }),
    );
    writePack(two, [{ oid: hello, bytes: plainEntry(BLOB, Buffer.from('hello\n')) }]);
    expect(read([one, two], true)).toBe('hello\n');
  });
});
