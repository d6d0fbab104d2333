/** Reads the event's payload, which comes from outside, so that any part of it may be missing or of another kind. */

/** A member of a value of unknown shape. */
export function member(value: unknown, ...names: readonly string[]): unknown {
  let current = value;
  for (const name of names) {
    if (typeof current !== 'object' || current === null) return undefined;
    current = (current as Record<string, unknown>)[name];
  }
  return current;
}
