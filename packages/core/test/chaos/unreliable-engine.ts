import type { Engine, EnginePlace, WakeOptions } from 'adjutant/ports';

const share = 0.3;
const lateMs = 500;

/**
 * An engine whose wakes are lost, come twice or come late, a third of the time each. Cancels take
 * the same way: what is lost must be found by the next look.
 */
export function unreliableEngine(engine: Engine): Engine {
  const unreliably = (tell: () => void): void => {
    const chance = Math.random();
    if (chance < share) return;
    if (chance < 2 * share) setTimeout(tell, lateMs);
    else tell();
    if (chance >= 1 - share) tell();
  };
  return {
    name: engine.name,
    isShared: engine.isShared === true,
    start: (work) => engine.start(work),
    wake: (place?: EnginePlace, options?: WakeOptions) =>
      unreliably(() => engine.wake(place, options)),
    schedule: (at: number, place?: EnginePlace) => engine.schedule(at, place),
    cancel: (place: EnginePlace) => unreliably(() => engine.cancel(place)),
    health: () => engine.health(),
    stop: () => engine.stop(),
  };
}
