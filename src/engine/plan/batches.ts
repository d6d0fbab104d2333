/**
 * How the entries to write are cut into batches that workers claim: small enough to share the work out evenly, large enough
 * that claiming costs nothing beside it, and bounded in pack bytes so that one read of the pack serves a batch.
 */

/** 64 entries of the Linux tree take about 2 ms; claiming takes less than a microsecond. */
export const BATCH_ENTRIES = 64;
/** Compressed bytes that a batch may span: less than half a read window. */
export const BATCH_BYTES = 512 << 10;

/**
 * Cuts the write order into batches.
 * @param positions where each entry of the order lies in its pack, ascending within a pack
 * @returns starts of the batches, and the number of entries at the end
 */
export function cutBatches(positions: Float64Array): Uint32Array {
  const count = positions.length;
  const starts = new Uint32Array(count + 1);
  let batches = 0;
  let start = 0;
  for (let i = 0; i < count; i++) {
    const span = (positions[i] ?? 0) - (positions[start] ?? 0);
    // A negative span is the step into the next pack.
    if (i === start || (i - start < BATCH_ENTRIES && span >= 0 && span < BATCH_BYTES)) continue;
    starts[batches++] = start;
    start = i;
  }
  if (count > 0) starts[batches++] = start;
  starts[batches] = count;
  return starts.slice(0, batches + 1);
}

/**
 * Orders entries that share a base behind one another, and makes each such family one batch. Families with the largest bases come first:
 * they take longest, so the others even the work out, and memory that they free is large enough for all that follow.
 * @param entries their numbers
 * @param bases a key of each entry's base
 * @param baseSizes its size
 */
export function groupFamilies(
  entries: Uint32Array,
  bases: Float64Array,
  baseSizes: Float64Array,
): { order: Uint32Array<SharedArrayBuffer>; batchStarts: Uint32Array } {
  const count = entries.length;
  // A few hundred of a large repository, so plain sorting will do. By entry within a family: nearly the order of the pack.
  const ranks = Array.from(entries.keys()).sort(
    (a, b) =>
      (baseSizes[b] ?? 0) - (baseSizes[a] ?? 0) ||
      (bases[a] ?? 0) - (bases[b] ?? 0) ||
      (entries[a] ?? 0) - (entries[b] ?? 0),
  );
  const order = new Uint32Array(new SharedArrayBuffer(4 * count));
  const starts: number[] = [];
  ranks.forEach((rank, at) => {
    order[at] = entries[rank] ?? 0;
    if (at === 0 || bases[rank] !== bases[ranks[at - 1] ?? 0]) starts.push(at);
  });
  return { order, batchStarts: Uint32Array.from([...starts, count]) };
}
