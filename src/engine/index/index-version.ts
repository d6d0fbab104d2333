/**
 * Which version a new index gets. An index that is there keeps its version, whatever is configured: git converts none
 * (git-config, index.version; git(1), GIT_INDEX_VERSION).
 */

/** Facts of configuration and environment, as they stand. */
export interface VersionFacts {
  /** Version of the index that is replaced, null without one. */
  readonly old: 2 | 3 | 4 | null;
  /** GIT_INDEX_VERSION. */
  readonly environment: string | undefined;
  /** index.version. */
  readonly configured: number | undefined;
  /** feature.manyFiles, which stands for version 4 where index.version says nothing. */
  readonly manyFiles: boolean;
}

/** 4, or 2 for the older formats: whether that becomes 3 depends on the entries. What is no version counts as unset. */
export function indexFormat({ old, environment, configured, manyFiles }: VersionFacts): 2 | 4 {
  if (old !== null) return old === 4 ? 4 : 2;
  // The variable wins even where it makes no sense; git then warns and takes its default.
  if (environment !== undefined) return /^\s*\+?0*4$/.test(environment) ? 4 : 2;
  return (configured ?? (manyFiles ? 4 : 2)) === 4 ? 4 : 2;
}
