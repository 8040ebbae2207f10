import type { TurnPatch } from '../../ledger/port.ts';
import type { Turn } from './turn.ts';

/** Deadlines of turns: their time passes in the queue and at work, and not while a turn rests. */
export class DeadlineClock {
  /** Sets deadlines, counted from now for a turn that does not rest. */
  set(turn: Turn, { softMs, hardMs }: TurnPatch, now: number): void {
    const passes = turn.place !== 'resting';
    if (softMs !== undefined) {
      turn.softAt = passes ? now + softMs : undefined;
      turn.softLeftMs = passes ? undefined : softMs;
    }
    if (hardMs !== undefined) {
      turn.hardAt = passes ? now + hardMs : undefined;
      turn.hardLeftMs = passes ? undefined : hardMs;
    }
    if (passes) turn.controlAt = earlier(turn.controlAt, turn.hardAt);
  }

  /** Lets the time pass again. */
  run(turn: Turn, now: number): void {
    if (turn.softLeftMs !== undefined) turn.softAt = now + turn.softLeftMs;
    if (turn.hardLeftMs !== undefined) turn.hardAt = now + turn.hardLeftMs;
    turn.softLeftMs = undefined;
    turn.hardLeftMs = undefined;
    // A hard deadline needs no place in the queue to act.
    turn.controlAt = earlier(turn.controlAt, turn.hardAt);
  }

  /** Stops the time. */
  pause(turn: Turn, now: number): void {
    if (turn.softAt !== undefined) turn.softLeftMs = Math.max(0, turn.softAt - now);
    if (turn.hardAt !== undefined) turn.hardLeftMs = Math.max(0, turn.hardAt - now);
    if (turn.controlAt !== null && turn.controlAt === turn.hardAt) turn.controlAt = null;
    turn.softAt = undefined;
    turn.hardAt = undefined;
  }
}

function earlier(at: number | null, other: number | undefined): number | null {
  if (other === undefined) return at;
  return at === null ? other : Math.min(at, other);
}
