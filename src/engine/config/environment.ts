/** Environment variables by name. A value here: only src/engine/gitdir reads the process's own. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A variable that git reads as a boolean (GIT_ATTR_NOSYSTEM): unset, empty, 0, false, no and off are false. */
export function environmentFlag(environment: Environment, name: string): boolean {
  const value = environment[name];
  return value !== undefined && !/^(|0+|false|no|off)$/i.test(value);
}
