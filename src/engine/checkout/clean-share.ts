/**
 * The part of a clean that threads share: places that do not depend on each other, each claimed by adding one to a counter.
 * The main thread works on them as well.
 */
import { CleanWalk, type CleanRules, type Place } from './clean-walk.ts';

/** Words of a share's control, used through Atomics only. */
const NEXT_PLACE = 0;
export const STOP_CLEAN = 1;

/** What became of a place. */
export const PlaceState = { OPEN: 0, GONE: 1, STAYS: 2 } as const;

/** Shared memory and plain values. */
export interface CleanShare {
  readonly rules: CleanRules;
  readonly places: readonly Place[];
  /** A PlaceState each; one that is OPEN in the end was a thread's that died. */
  readonly states: Uint8Array<SharedArrayBuffer>;
  readonly control: Int32Array<SharedArrayBuffer>;
}

/** What a thread did. */
export interface CleanOutcome {
  /** Files and links removed. */
  readonly removed: number;
  /** What could not be removed, a line each. */
  readonly failures: readonly string[];
  /** What could not be looked into, a line each. */
  readonly unread: readonly string[];
}

interface Frame {
  readonly place: Place;
  /** Directories in it that are to be visited; the last one is next. */
  readonly below: Place[];
  /** Visited, and to be removed if nothing in it stays. */
  open: boolean;
  stays: boolean;
}

/** One place and all that is below it, a directory a step, depth first. */
export class Descent {
  /** Whether something in it stays; known when it is done. */
  stays = false;
  readonly #walk: CleanWalk;
  readonly #frames: Frame[] = [];

  constructor(walk: CleanWalk, place: Place) {
    this.#walk = walk;
    this.#visit(place);
  }

  /** False when all is done. */
  step(): boolean {
    const frame = this.#frames[this.#frames.length - 1];
    if (frame === undefined) return false;
    const next = frame.below.pop();
    if (next !== undefined) {
      this.#visit(next);
      return true;
    }
    this.#frames.pop();
    const stays = frame.open ? this.#walk.leave(frame.place, frame.stays) : frame.stays;
    this.#settle(stays);
    return true;
  }

  #visit(place: Place): void {
    const below: Place[] = [];
    const visit = this.#walk.visit(place, below);
    if (visit === 'gone') this.#settle(false);
    else if (below.length === 0 && visit === 'stays') this.#settle(true);
    else this.#frames.push({ place, below, open: visit === 'open', stays: visit === 'stays' });
  }

  #settle(stays: boolean): void {
    const above = this.#frames[this.#frames.length - 1];
    if (above === undefined) this.stays = stays;
    else if (stays) above.stays = true;
  }
}

/** Claims the next place of a share; null when none is left or it is to stop. */
export function claimPlace({ places, control }: CleanShare): number | null {
  if (Atomics.load(control, STOP_CLEAN) !== 0) return null;
  const at = Atomics.add(control, NEXT_PLACE, 1);
  return at < places.length ? at : null;
}

/** Runs one worker's part of a share. */
export function cleanShare(share: CleanShare): CleanOutcome {
  const walk = new CleanWalk(share.rules);
  for (let at = claimPlace(share); at !== null; at = claimPlace(share)) {
    const place = share.places[at];
    if (place === undefined) break;
    const descent = new Descent(walk, place);
    while (Atomics.load(share.control, STOP_CLEAN) === 0 && descent.step());
    if (Atomics.load(share.control, STOP_CLEAN) === 0) finishPlace(share, at, descent);
  }
  return { removed: walk.removed, failures: walk.failures, unread: walk.unread };
}

/** Notes what became of a place. */
export function finishPlace({ states }: CleanShare, at: number, { stays }: Descent): void {
  Atomics.store(states, at, stays ? PlaceState.STAYS : PlaceState.GONE);
}
