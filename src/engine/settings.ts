/**
 * What the caller wants, as complete values: the action and the command line program each read their own inputs and
 * hand one of these to the engine. Nothing in the engine reads inputs itself.
 */
import type { HostFacts } from './host-facts.ts';

export type EngineChoice = 'auto' | 'native' | 'git';
export type TransportChoice = 'auto' | 'stream' | 'git';

/** Settings of every command. */
export interface RunSettings {
  /** Upper bound for worker threads; 0 makes the main thread write the files itself. */
  readonly workers: number | 'auto';
  readonly memoryLimitBytes: number | 'auto';
  readonly engine: EngineChoice;
  /** Hash each object that is read, and compare with its id. Only our own engine can do this. */
  readonly verify?: boolean;
  readonly transport: TransportChoice;
  /** How often and how long a server is tried. */
  readonly fetchLimits?: FetchLimits;
  /** Facts to plan by instead of probing this machine. */
  readonly hostFacts?: HostFacts;
  /** Configuration on top of all files, as `git -c KEY=VALUE`. */
  readonly config: readonly ConfigOverride[];
  /** Stops the run: nothing half-made stays behind. */
  readonly signal?: AbortSignal;
}

/** How often and how long a server is tried. What is left out has the default of the file named. */
export interface FetchLimits {
  /** Attempts in all, 1 or more: fetch/retry.ts. */
  readonly attempts?: number;
  /** The wait before the second attempt, about, in milliseconds: fetch/retry.ts. */
  readonly retryDelayMs?: number;
  /** An attempt is stopped when nothing (or next to nothing) came for so many milliseconds; 0 for never: fetch/online-git.ts. */
  readonly stallMs?: number;
  /** An attempt is stopped, and none follows, when it has taken so many milliseconds in all; 0 for never: fetch/online-git.ts. */
  readonly deadlineMs?: number;
}

export interface ConfigOverride {
  readonly key: string;
  readonly value: string;
}

/** Where HEAD goes. */
export type CheckoutTarget =
  /** What HEAD names now. */
  | { readonly kind: 'head' }
  /** As `git checkout --force REVISION`: a local branch name switches to it, anything else detaches HEAD. */
  | { readonly kind: 'revision'; readonly revision: string }
  /** As `git checkout --force -B BRANCH START`: makes or moves the branch and switches to it. */
  | { readonly kind: 'branch'; readonly branch: string; readonly startPoint: string }
  /** As `git checkout --force --detach REVISION`. */
  | { readonly kind: 'detach'; readonly revision: string };

/** Which part of the tree is to be on disk, as `git sparse-checkout set` and `disable` have it. */
export type SparseSetting =
  /** These directories with all below them, the files of their parents, and those at the top. */
  | { readonly kind: 'cone'; readonly patterns: readonly string[] }
  /** What these patterns, written as in a .gitignore, match. */
  | { readonly kind: 'no-cone'; readonly patterns: readonly string[] }
  /** All of it, whatever was set before. */
  | { readonly kind: 'off' };

/** Request: make the working tree be what `target` names, from objects at hand. */
export interface CheckoutRequest extends RunSettings {
  /** Where to look for the repository; the discovery starts here when `gitDir` is not given. */
  readonly directory: string;
  readonly gitDir?: string;
  readonly workTree?: string;
  readonly target: CheckoutTarget;
  /** Set before the checkout, and stays set. Without it the working tree stays as sparse as its repository says. */
  readonly sparse?: SparseSetting;
  /** Added to the environment of filter drivers; to git's the git port adds it. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Environment of a fetch of objects that a partial clone lacks; the place for credentials. */
  readonly fetchEnv?: Readonly<Record<string, string>>;
  /**
   * Download the Git LFS files that are to be written, before anything is touched, and write those of which pointers were left by an
   * earlier checkout. Without it git-lfs brings what is not in the local store, file by file. Credentials: `fetchEnv`.
   */
  readonly lfs?: LfsSettings;
  /** Removes first what is untracked or ignored, as `git clean -ffdx` does. */
  readonly clean?: CleanSettings;
  /** Checks submodules out as well, once the checkout itself is done; without it they are left as they are. */
  readonly submodules?: SubmoduleSettings;
}

/** Which submodules, and how they are fetched: `git submodule sync` and `git submodule update --init --force`. */
export interface SubmoduleSettings {
  /** Those of submodules too. */
  readonly recursive: boolean;
  /** How many are fetched at once, from 1 to MAX_SUBMODULE_JOBS. */
  readonly jobs: number;
  /** Commits of history of each; without it all. */
  readonly depth?: number;
  /** Lines of a gitignore file, matched with paths of submodules; without any all are wanted. */
  readonly include: readonly string[];
  /** Those that are not wanted, in the same form. */
  readonly exclude: readonly string[];
  /** Environment of git processes that talk to a submodule's server; the place for credentials. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Where Git LFS files come from; which paths, the configuration says (lfs.fetchinclude, lfs.fetchexclude). */
export interface LfsSettings {
  readonly remote: string;
}

/** What a clean leaves alone. */
export interface CleanSettings {
  /** Lines of a gitignore file at the top of the working tree. */
  readonly exclude: readonly string[];
}

/** Request: make a repository in `directory`, fetch and check out. */
export interface CloneRequest extends RunSettings {
  readonly url: string;
  readonly directory: string;
  /** Branch, tag, full ref or commit id; without it the remote's HEAD. */
  readonly ref?: string;
  /** Number of commits of history; without it all. */
  readonly depth?: number;
  /** Without it all is checked out. */
  readonly sparse?: SparseSetting;
  /** As in CheckoutRequest. */
  readonly submodules?: SubmoduleSettings;
}

/** Request: say what a checkout of this many files would do here. */
export interface PlanRequest extends RunSettings {
  readonly directory: string;
  readonly files?: number;
  readonly bytes?: number;
}

/** What a run tells while it goes on. All calls come from the main thread; they must not throw. */
export interface Observer {
  /** A line for the log: what is about to happen, or a fallback and its reason. */
  info(line: string): void;
  /** Something went other than asked, and the run goes on. */
  warning(line: string): void;
  /** Numbers so far; called a few times a second at most. */
  progress(progress: Progress): void;
}

export interface Progress {
  readonly phase: 'fetch' | 'lfs' | 'write';
  readonly filesDone: number;
  readonly filesTotal: number;
  readonly bytesDone: number;
}

/** Runs git. The action gives one that echoes commands into its log; the default spawns the process quietly. */
export type GitProcess = (call: GitCall) => Promise<GitResult>;

export interface GitCall {
  /** Without 'git' itself. Never holds a secret. */
  readonly args: readonly string[];
  readonly cwd?: string;
  /** Added to the environment. */
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: Uint8Array;
  readonly signal?: AbortSignal;
  /** Lines of standard error as they come (progress). */
  readonly onStderrLine?: (line: string) => void;
  /** Told the number of git's process. */
  readonly onStart?: (pid: number) => void;
  /**
   * Lines of git's trace of the headers of its HTTP requests (GIT_TRACE_CURL). None come where the environment has that trace go
   * elsewhere, and none on Windows.
   */
  readonly onHttpTraceLine?: (line: string) => void;
}

export interface GitResult {
  /** Exit status; a process ended by a signal gives 128 + its number. */
  readonly exitCode: number;
  readonly stdout: Buffer;
  /** The last 64 KiB. */
  readonly stderr: string;
}

/** Request: bring objects into the repository at `directory` from its remote. */
export interface FetchRequest {
  readonly directory: string;
  /** Where the repository is not to be found from `directory`. */
  readonly gitDir?: string;
  readonly remote: string;
  readonly refspecs: readonly string[];
  /** Commits of history to bring; without it all that the refspecs reach. */
  readonly depth?: number;
  /** Turn a shallow repository into a complete one. */
  readonly unshallow?: boolean;
  /** Follow tags (`--tags` is a refspec, not this). */
  readonly tags: boolean;
  readonly prune: boolean;
  /** Object filter such as 'blob:none'. */
  readonly filter?: string;
  readonly progress: boolean;
  readonly transport: TransportChoice;
  /** Environment for the fetch alone; the place for credentials (GIT_CONFIG_COUNT and its keys). */
  readonly env?: Readonly<Record<string, string>>;
  readonly limits?: FetchLimits;
  readonly signal?: AbortSignal;
  /** The checkout that will follow: where the pack is streamed, its files are written while it comes. */
  readonly ahead?: CheckoutRequest;
}

/** What came of a fetch. */
export interface FetchOutcome {
  readonly transport: 'stream' | 'git';
  readonly ms: number;
  readonly reasons: readonly { readonly text: string; readonly decided: boolean }[];
  /** Why the stream was given up after it had begun. */
  readonly fallback?: string;
  readonly received?: Received;
  /** What was written while the pack came; belongs to the checkout that gets this outcome, or is to be abandoned. */
  readonly begun?: BegunCheckout;
}

/** How a pack came that we received ourselves. */
export interface Received {
  readonly bytes: number;
  readonly objects: number;
  /** Questions that were put to the server. */
  readonly requests: number;
  /** Time for which there was nothing to do but to wait for the network. */
  readonly networkWaitMs: number;
  /** Time for which the network waited for the engine. */
  readonly engineWaitMs: number;
  /** Files that were written when the last byte came. */
  readonly filesWritten: number;
}

/** A checkout that has begun before it was asked for. */
export interface BegunCheckout {
  /** Ends its threads and removes what was written. */
  abandon(): Promise<void>;
}

/** What the engine is given to work with. */
export interface EnginePorts {
  readonly observer: Observer;
  readonly git: GitProcess;
}
