/**
 * The same clean by git, where git checks out.
 */
import { excludePatterns } from './clean-walk.ts';

/** Arguments of git for a clean that keeps what lines of a gitignore file name; what they mean is settled here, not by git. */
export function cleanArguments(exclude: readonly string[]): string[] {
  const patterns = excludePatterns(exclude).map(({ pattern, negative, mustBeDirectory }) => {
    const text = Buffer.from(pattern).toString('utf8');
    return `--exclude=${negative ? '!' : ''}${text}${mustBeDirectory ? '/' : ''}`;
  });
  return ['clean', '-ffdxq', ...patterns];
}
