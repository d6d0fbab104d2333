// What a git that talks to a server may say, and how it is ended.
import { describe, expect, it } from 'vitest';
import { runOnline } from '../../../src/engine/fetch/online-git.ts';
import type { GitProcess } from '../../../src/engine/settings.ts';

async function run(git: GitProcess): Promise<{ lines: string[]; warnings: string[] }> {
  const lines: string[] = [];
  const warnings: string[] = [];
  const observer = { warning: (line: string) => warnings.push(line) };
  const call = { what: 'fetch', args: ['fetch'], onStderrLine: (line: string) => lines.push(line) };
  await runOnline({ ...call, limits: { retryDelayMs: 1 } }, { git, observer });
  return { lines, warnings };
}

describe('a server that talks', () => {
  it('is heard, up to a point, over all attempts; meters do not count', async () => {
    let attempts = 0;
    const { lines, warnings } = await run((call) => {
      const say = (line: string): void => call.onStderrLine?.(line);
      for (let at = 0; at < 700; at++) say(`remote: words ${at}`);
      for (let at = 0; at < 2000; at++) say(`remote: Counting objects: 45% (${at}/9999)`);
      for (let at = 0; at < 2000; at++) say(` * [new branch] ${at}`);
      const isOver = ++attempts === 2;
      const stderr = isOver ? '' : 'fatal: early EOF';
      return Promise.resolve({ exitCode: isOver ? 0 : 128, stdout: Buffer.alloc(0), stderr });
    });
    expect(lines.filter((line) => line.startsWith('remote: words'))).toHaveLength(1000);
    expect(lines).toHaveLength(1000 + 8000);
    expect(warnings).toHaveLength(2);
    expect(warnings[1]).toBe('the server has more to say, which is not shown');
  });
});
