import type { Scene } from './scene.ts';

/**
 * Lets `ms` milliseconds pass, in parts that end where a timer or a request is due. A timer may set
 * the next one, and a run whose request has expired goes on.
 */
export async function passTime(scene: Scene, ms: number): Promise<void> {
  for (let left = ms; left > 0; ) {
    const part = Math.min(left, Math.max(0, untilNext(scene)));
    scene.clock.advance(part);
    left -= part;
    await scene.settle();
    resumeExpired(scene);
  }
}

/** Milliseconds until the next timer, or the expiry of a request that a stopped run waits for. */
function untilNext(scene: Scene): number {
  const { process, clock } = scene;
  const expiries = process.isActive
    ? []
    : scene.pending.flatMap(({ expiresAt }) => expiresAt ?? []);
  return Math.min(
    process.clock.untilNext,
    ...expiries.map((at) => at - clock.now()).filter((left) => left > 0),
  );
}

function resumeExpired(scene: Scene): void {
  const { process, clock } = scene;
  const isExpired = scene.pending.some(
    ({ expiresAt }) => expiresAt !== undefined && expiresAt <= clock.now(),
  );
  if (isExpired && !process.isActive) scene.resume();
}
