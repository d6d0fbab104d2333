/**
 * What `--help` prints, for the program and for each command.
 */
import { COMMANDS, type CommandName } from './arguments.ts';

const COMMON = `Common options:
  --workers N|auto         upper bound for worker threads, 0 to 1024; 0 writes with the main thread alone
  --memory-limit SIZE|auto what the checkout may hold in memory: 512MB, 2GiB, 1.5g or bytes; at least 16MB
  --engine auto|native|git who writes the files; native fails where git would be needed
  --verify                 hash each object that is read and compare with its id; fails where git would be needed
  --transport auto|stream|git
                           how objects come
  -c KEY=VALUE             a git setting for this run, as git -c (may be repeated; also --config)
  --report FILE.json       write the report (of plan: the plan) as JSON to FILE.json
  --json                   print it as JSON on standard output, and nothing else there
  --quiet                  print nothing but errors, and what --json asks for
  -h, --help               this text
  --version                the version

Exit status: 0 done, 1 failed, 2 wrong usage; 130 or 143 when interrupted.`;

const COMMAND_TEXTS: Readonly<Record<CommandName, string>> = {
  clone: `usage: parallel-checkout clone <url> <dir> [options]

Makes a repository in <dir>, fetches and checks out. <url> is whatever git takes: a URL, host:path, or a local path.

  --ref REF          branch, tag, full ref or commit id; without it the remote's HEAD
  --depth N          commits of history; without it all
  --sparse DIR       check out only this directory, and the files above it (may be repeated)
  --no-cone          take what --sparse gives as patterns, as in a .gitignore
  --fetch-retries N  how often a fetch is tried again that failed for a reason which may pass (default 2)
  --fetch-stall-timeout SECONDS
                     stop an attempt when nothing comes for so long; 0 for never (default 120)
  --fetch-timeout SECONDS
                     stop for good when an attempt takes so long; 0 for never (default 21600)

Example:
  parallel-checkout clone https://github.com/git/git.git git --depth 1 --ref v2.47.0 --workers 4`,

  checkout: `usage: parallel-checkout checkout [<commit>] [options]

Makes the working tree what <commit> says, as git checkout --force does, from objects at hand. A branch is switched to,
any other commit detaches HEAD; without <commit> it is what HEAD names. Local changes to tracked files are lost.

  --git-dir DIR      the repository, as git --git-dir; without it the one that the current folder is in
  --work-tree DIR    where the files go, as git --work-tree
  --sparse DIR       make the working tree sparse: only this directory, and the files above it (may be repeated)
  --no-cone          take what --sparse gives as patterns, as in a .gitignore
  --no-sparse        make a sparse working tree full again; without either it stays as it is
  --clean            remove untracked and ignored files first, as git clean -ffdx
  --clean-exclude PATTERN
                     with --clean: leave what matches alone; as a line of .gitignore, may be given several times
  --fetch-retries, --fetch-stall-timeout, --fetch-timeout
                     as with clone, for what a partial clone lacks

Example:
  parallel-checkout checkout main --report report.json`,

  plan: `usage: parallel-checkout plan [<dir>] [options]

Says what a checkout in <dir> (or the current folder) would do on this machine, and why. Changes nothing.

  --files N          plan for so many files; without it those of the repository in <dir>
  --bytes N          and so many bytes of content, as a number or a size such as 2GB

Example:
  parallel-checkout plan --files 90000 --bytes 1.4GB`,
};

const SUMMARIES: Readonly<Record<CommandName, string>> = {
  clone: 'fetch a repository and check it out',
  checkout: 'what git checkout --force would do, from objects at hand',
  plan: 'what a checkout would do here, and why',
};

/** The text for one command, or for the program. Ends with a line break. */
export function helpText(command: CommandName | null): string {
  if (command !== null) return `${COMMAND_TEXTS[command]}\n\n${COMMON}\n`;
  const commands = COMMANDS.map((name) => `  ${name.padEnd(10)} ${SUMMARIES[name]}`).join('\n');
  return `usage: parallel-checkout <command> [options]

Checks out big git repositories with several workers.

Commands:
${commands}

${COMMON}

Example:
  parallel-checkout clone https://github.com/git/git.git git --depth 1
More about a command: parallel-checkout <command> --help
`;
}
