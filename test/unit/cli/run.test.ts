import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { run } from '../../../src/cli/run.ts';
import { VERSION } from '../../../src/cli/version.ts';
import { CheckoutError } from '../../../src/engine/errors.ts';
import { reportToJson } from '../../../src/engine/report/json.ts';
import { planToText, reportToText } from '../../../src/engine/report/text.ts';
import { sampleReport } from '../report/sample.ts';
import { FakeEngine, FakeIo } from './fake.ts';

const report = sampleReport();
const done = () => new FakeEngine(() => report);
const failed = { code: 'object-missing', message: 'object 12ab is missing', subject: { oid: '12ab' } } as const;

describe('a run that succeeds', () => {
  it('prints the report on standard output and exits with 0', async () => {
    const io = new FakeIo();
    const engine = done();
    expect(await run(['checkout', 'main'], io, engine)).toBe(0);
    expect(io.out).toBe(reportToText(report));
    expect(io.err).toBe('');
    expect(engine.calls).toHaveLength(1);
    expect(engine.calls[0]).toMatchObject({
      command: 'checkout',
      request: { target: { kind: 'revision', revision: 'main' } },
    });
  });

  it.each([[['checkout']], [['clone', 'https://h/r', 'd']], [['plan']]])(
    'gives %j the signal and git, and no facts of its own about the machine',
    async (argv) => {
      const io = new FakeIo();
      const engine = done();
      expect(await run(argv, io, engine)).toBe(0);
      expect(engine.calls[0]!.command).toBe(argv[0]);
      expect(engine.calls[0]!.request.signal).toBe(io.signal);
      expect(engine.calls[0]!.request).not.toHaveProperty('hostFacts');
      expect(engine.ports!.git).toBe(engine.spawnGit);
    },
  );

  it('prints a plan', async () => {
    const io = new FakeIo();
    expect(await run(['plan'], io, done())).toBe(0);
    expect(io.out).toBe(planToText(report.plan));
  });

  it('with --json prints that and nothing else', async () => {
    const io = new FakeIo();
    expect(await run(['checkout', '--json'], io, done())).toBe(0);
    expect(io.out).toBe(reportToJson(report));
    const planIo = new FakeIo();
    expect(await run(['plan', '--json'], planIo, done())).toBe(0);
    expect(JSON.parse(planIo.out)).toEqual(report.plan);
  });

  it('with --report writes it, beside the text', async () => {
    const io = new FakeIo();
    expect(await run(['checkout', '--report', 'out/r.json'], io, done())).toBe(0);
    expect([...io.files]).toEqual([[resolve(io.cwd, 'out/r.json'), reportToJson(report)]]);
    expect(io.out).toBe(reportToText(report));
  });

  it('with --quiet prints nothing, but what --json asks for', async () => {
    const engine = new FakeEngine(({ observer }) => {
      observer.info('a line');
      observer.warning('a warning');
      observer.progress({ phase: 'write', filesDone: 1, filesTotal: 2, bytesDone: 3 });
      return report;
    });
    const io = new FakeIo(true);
    expect(await run(['checkout', '--quiet'], io, engine)).toBe(0);
    expect(io.out + io.err).toBe('');
    expect(await run(['checkout', '--quiet', '--json'], io, engine)).toBe(0);
    expect(io.out).toBe(reportToJson(report));
    expect(io.err).toBe('');
  });
});

describe('a run that fails', () => {
  const failedReport = sampleReport({
    error: failed,
    totals: { ...report.totals, files: 0 },
  });

  it('says so in one line, exits with 1, and still gives the report to those who asked', async () => {
    const io = new FakeIo();
    expect(await run(['checkout', '--report', 'r.json', '--json'], io, new FakeEngine(() => failedReport))).toBe(1);
    expect(io.err).toBe('parallel-checkout: object 12ab is missing\n');
    expect(io.out).toBe(reportToJson(failedReport));
    expect([...io.files.values()]).toEqual([reportToJson(failedReport)]);
  });

  it('prints no table of zeros, but what was done or left undone', async () => {
    const io = new FakeIo();
    expect(await run(['checkout'], io, new FakeEngine(() => failedReport))).toBe(1);
    expect(io.out).toBe('');
    const partial = sampleReport({ error: failed, skipped: [{ path: 'a', reason: 'ENOSPC' }] });
    const partialIo = new FakeIo();
    expect(await run(['checkout'], partialIo, new FakeEngine(() => partial))).toBe(1);
    expect(partialIo.out).toContain('Not written: 1\n  a: ENOSPC\n');
  });

  it('gives the error alone as JSON where there is no report', async () => {
    const engine = new FakeEngine(() => {
      throw new CheckoutError('authentication-failed', 'the server refused the token', {});
    });
    const io = new FakeIo();
    expect(await run(['clone', 'https://h/r', 'd', '--json', '--report', 'r.json'], io, engine)).toBe(1);
    expect(io.err).toBe('parallel-checkout: the server refused the token\n');
    const expected = {
      schemaVersion: 1,
      error: { code: 'authentication-failed', message: 'the server refused the token', subject: {} },
    };
    expect(JSON.parse(io.out)).toEqual(expected);
    expect(JSON.parse([...io.files.values()][0]!)).toEqual(expected);
  });

  it('is quiet only about what is no error', async () => {
    const io = new FakeIo();
    expect(await run(['checkout', '--quiet'], io, new FakeEngine(() => failedReport))).toBe(1);
    expect(io.err).toBe('parallel-checkout: object 12ab is missing\n');
  });

  it('shows a hostile message as one harmless line', async () => {
    const error = { ...failed, message: 'bad name \u001b[2J\nparallel-checkout: all is well' };
    const io = new FakeIo();
    expect(await run(['checkout'], io, new FakeEngine(() => ({ ...failedReport, error })))).toBe(1);
    expect(io.err).toBe('parallel-checkout: bad name \\x1b[2J\\x0aparallel-checkout: all is well\n');
  });

  it('exits with 2 for wrong usage, found before the engine or by it', async () => {
    const engine = done();
    const io = new FakeIo();
    expect(await run(['checkout', '--workers', 'x'], io, engine)).toBe(2);
    expect(io.err).toBe(
      "parallel-checkout: --workers: expected 'auto' or a whole number from 0 to 1024, not 'x'\n" +
        "Try 'parallel-checkout --help'.\n",
    );
    expect(io.out).toBe('');
    expect(engine.calls).toEqual([]);
    const late = new FakeEngine(() => sampleReport({ error: { ...failed, code: 'usage' } }));
    expect(await run(['checkout'], new FakeIo(), late)).toBe(2);
  });

  it('prints the stack of a bug and exits with 1', async () => {
    const engine = new FakeEngine(() => {
      throw new TypeError('x is not a function');
    });
    const io = new FakeIo();
    expect(await run(['checkout', '--quiet'], io, engine)).toBe(1);
    expect(io.err).toMatch(/^parallel-checkout: this is a bug .*\nTypeError: x is not a function\n +at /);
    expect(io.out).toBe('');
  });

  it('names the report that cannot be written, and prints the text all the same', async () => {
    const io = new FakeIo();
    io.fileError = Object.assign(new Error('no space'), { code: 'ENOSPC' });
    expect(await run(['checkout', '--report', 'r.json'], io, done())).toBe(1);
    expect(io.err).toBe(`parallel-checkout: cannot write the report '${resolve(io.cwd, 'r.json')}': ENOSPC\n`);
    expect(io.out).toBe(reportToText(report));
  });

  it('fails when standard output cannot be written, and writes the report all the same', async () => {
    const io = new FakeIo();
    io.stdoutError = Object.assign(new Error('no space'), { code: 'ENOSPC' });
    expect(await run(['checkout', '--report', 'r.json'], io, done())).toBe(1);
    expect(io.err).toBe("parallel-checkout: cannot write 'standard output': ENOSPC\n");
    expect(io.files.size).toBe(1);
  });
});

describe('an interruption', () => {
  it.each([
    ['as the reason', (io: FakeIo): unknown => io.signal.reason],
    ['as an AbortError', (): unknown => Object.assign(new Error('aborted'), { name: 'AbortError' })],
  ])('that comes out of the engine %s is no bug', async (_, thrown) => {
    const io = new FakeIo();
    const engine = new FakeEngine(() => {
      io.controller.abort();
      throw thrown(io);
    });
    expect(await run(['checkout', '--json'], io, engine)).toBe(1);
    expect(io.err).toBe('parallel-checkout: interrupted\n');
    expect(JSON.parse(io.out)).toMatchObject({ error: { code: 'interrupted' } });
  });

  it('that nobody asked for is one', async () => {
    const io = new FakeIo();
    const engine = new FakeEngine(() => {
      throw Object.assign(new Error('aborted'), { name: 'AbortError' });
    });
    expect(await run(['checkout'], io, engine)).toBe(1);
    expect(io.err).toContain('this is a bug');
  });
});

describe('standard error', () => {
  const progress = (filesDone: number) =>
    ({ phase: 'write', filesDone, filesTotal: 100, bytesDone: filesDone * 1000 }) as const;

  it('has log lines around a live line that is gone at the end', async () => {
    const io = new FakeIo(true);
    const engine = new FakeEngine(({ observer }) => {
      observer.info('reading trees');
      observer.progress(progress(1));
      observer.warning('slow \u0007disk');
      io.clock = 200;
      observer.progress(progress(2));
      return report;
    });
    expect(await run(['checkout'], io, engine)).toBe(0);
    const erase = '\r\u001b[K';
    expect(io.err).toBe(
      'reading trees\n' +
        `${erase}write: 1 of 100 files (1%), 1.00 kB` +
        `${erase}parallel-checkout: warning: slow \\x07disk\n` +
        `${erase}write: 2 of 100 files (2%), 2.00 kB, 5.00 kB/s` +
        erase,
    );
    expect(io.out).toBe(reportToText(report));
  });

  it('has whole lines, and few, where it is no terminal', async () => {
    const io = new FakeIo(false);
    const engine = new FakeEngine(({ observer }) => {
      for (; io.clock <= 11_000; io.clock += 100) observer.progress(progress(1 + io.clock / 1000));
      return report;
    });
    expect(await run(['checkout'], io, engine)).toBe(0);
    expect(io.err).toBe(
      'write: 6 of 100 files (6%), 6.00 kB, 1.00 kB/s\nwrite: 11 of 100 files (11%), 11.0 kB, 1.00 kB/s\n',
    );
  });
});

describe('help and version', () => {
  it.each([[['--help']], [['clone', '--help']], [['checkout', '--help']], [['plan', '--help']]])(
    '%j prints usage with an example and runs nothing',
    async (argv) => {
      const io = new FakeIo();
      const engine = done();
      expect(await run(argv, io, engine)).toBe(0);
      expect(io.out).toMatch(/^usage: parallel-checkout /);
      expect(io.out).toMatch(/\nExample:\n {2}parallel-checkout /);
      expect(io.err).toBe('');
      expect(engine.calls).toEqual([]);
      for (const line of io.out.split('\n')) expect(line.length).toBeLessThanOrEqual(120);
    },
  );

  it('explain every option that the parser takes', async () => {
    const io = new FakeIo();
    for (const command of ['clone', 'checkout', 'plan']) await run([command, '--help'], io, done());
    const source = readFileSync(join(import.meta.dirname, '../../../src/cli/arguments.ts'), 'utf8');
    const [, table = ''] = /const OPTIONS = \{\n([\s\S]*?)\n\} as const/.exec(source)!;
    const names = [...table.matchAll(/^ {2}'?([a-z-]+)'?:/gm)].map((match) => match[1]!);
    expect(names).toHaveLength(25);
    const document = readFileSync(join(import.meta.dirname, '../../../docs/cli.md'), 'utf8');
    for (const name of names) {
      expect(io.out).toContain(`--${name}`);
      expect(document).toContain(`\`--${name}`.replace('`--config', '--config'));
    }
  });

  it('the version is that of package.json', async () => {
    const io = new FakeIo();
    expect(await run(['--version'], io, done())).toBe(0);
    expect(io.out).toBe(`${VERSION}\n`);
    const packageFile = readFileSync(join(import.meta.dirname, '../../../package.json'), 'utf8');
    expect((JSON.parse(packageFile) as { version: string }).version).toBe(VERSION);
  });
});
