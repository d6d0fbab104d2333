/**
 * Random damage to bytes, the same for the same seed.
 */

/** Bits, bytes, cuts, ranges of zeros, ranges moved: one to three of them, most at `places` where some are given. */
export function damage(bytes: Buffer, random: (below: number) => number, places: readonly number[] = []): Buffer {
  let result = Buffer.from(bytes);
  for (let changes = 1 + random(3); changes > 0 && result.length > 1; changes--) {
    const anywhere = random(4) === 0 ? random(Math.min(64, result.length)) : random(result.length);
    const place = places[random(Math.max(1, places.length))] ?? anywhere;
    const at = random(5) === 0 || place >= result.length ? anywhere : place;
    switch (random(9)) {
      case 0:
      case 1:
      case 2:
        result[at] = (result[at] ?? 0) ^ (1 << random(8));
        break;
      case 3:
      case 4:
        result[at] = [0, 0xff, 0x7f, 0x80, 0x2f, 0x2e, 0x20, 0x0a][random(8)] ?? 0;
        break;
      case 5:
        result = Buffer.from(result.subarray(0, at));
        break;
      case 6:
        result.fill(random(2) === 0 ? 0 : 0xff, at, Math.min(result.length, at + 1 + random(40)));
        break;
      case 7:
        result = Buffer.concat([result.subarray(0, at), result.subarray(at + 1 + random(30))]);
        break;
      default:
        result = Buffer.concat([result.subarray(0, at), result.subarray(Math.max(0, at - random(40)))]);
    }
  }
  return result;
}

/** Where modes and names are in a tree: an id that is damaged only makes an object missing. */
export function placesOfTree(tree: Buffer, oidBytes: number): number[] {
  const places: number[] = [];
  for (let at = 0; at < tree.length; at += oidBytes) {
    const end = tree.indexOf(0, at);
    for (; at <= end; at++) places.push(at);
  }
  return places;
}
