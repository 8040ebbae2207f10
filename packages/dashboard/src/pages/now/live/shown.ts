import { type CreatureState, stateMs } from '../../../creatures/states.ts';
import type { Sign } from './signs.ts';

/** Drawn state of a sign: its own, or one that passes on the way there. */
export interface Shown {
  readonly state: CreatureState;
  /** Instant at which a passing state ends. */
  readonly until?: number;
  readonly note?: string;
  readonly session?: string;
}

/**
 * Returns what is drawn next: work begins with a pulse, and ends with a flash. `isSpawned`: the
 * creature is called in for its work, and appears.
 */
export function nextShown(
  before: Shown | undefined,
  sign: Sign,
  now: number,
  isSpawned = false,
): Shown {
  const about = {
    ...(sign.note === undefined ? {} : { note: sign.note }),
    ...(sign.session === undefined ? {} : { session: sign.session }),
  };
  // The first look is no change: nothing begins now.
  if (before === undefined) return { state: sign.state, ...about };
  const begin = isSpawned ? 'spawning' : 'activating';
  if (sign.state === 'working') {
    if (before.state === 'working') return { state: 'working', ...about };
    if (isPassing(before, begin, now)) return { ...before, ...about };
    return before.state === begin
      ? { state: 'working', ...about }
      : { state: begin, until: now + stateMs[begin], ...about };
  }
  if (sign.state !== 'idle') return { state: sign.state, ...about };
  if (isPassing(before, 'completing', now)) return before;
  const hasWorked = before.state === 'working' || before.state === begin;
  return hasWorked
    ? { state: 'completing', until: now + stateMs.completing, ...about }
    : { state: 'idle', ...about };
}

function isPassing(shown: Shown, state: CreatureState, now: number): boolean {
  return shown.state === state && shown.until !== undefined && now < shown.until;
}
