import { firstSleepEnd } from '../../../ledger/folds/sleeps.ts';
import type { Scene } from './scene.ts';

/**
 * Lets `ms` milliseconds pass, in parts that end where a timer, a request or a sleep is due. A
 * timer may set the next one, and a run whose request has expired, or whose sleep is over, goes on.
 */
export async function passTime(scene: Scene, ms: number): Promise<void> {
  for (let left = ms; left > 0; ) {
    const part = Math.min(left, Math.max(0, untilNext(scene)));
    scene.clock.advance(part);
    left -= part;
    await scene.settle();
    if (resumesDue(scene)) await scene.settle();
  }
}

/** Milliseconds until the next timer, or until a stopped run is due. */
function untilNext(scene: Scene): number {
  const { process, clock } = scene;
  const left = process.isActive ? [] : dueTimes(scene).map((at) => at - clock.now());
  return Math.min(process.clock.untilNext, ...left.filter((ms) => ms > 0));
}

/** Epoch milliseconds of the expiries and of the end of a sleep that the run waits for. */
function dueTimes({ pending, session, lane }: Scene): readonly number[] {
  const sleepsUntil = firstSleepEnd(session.ledger.invocations, lane);
  const expiries = pending.flatMap(({ expiresAt }) => expiresAt ?? []);
  return sleepsUntil === null ? expiries : [...expiries, sleepsUntil];
}

/** Continues a run that is due. @returns false when none is */
function resumesDue(scene: Scene): boolean {
  const { process, clock } = scene;
  const isDue = !process.isActive && dueTimes(scene).some((at) => at <= clock.now());
  if (isDue) scene.resume();
  return isDue;
}
