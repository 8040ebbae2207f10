import { memoryStore, type Runtime, runtime } from 'adjutant';
import { testClock } from 'adjutant/testing';
import { action, type TriggerContext } from 'adjutant/triggers';

type Options = Partial<Parameters<typeof runtime>[0]>;

export const hourMs = 3_600_000;

/** An app whose clock the test moves, and whose work is done when the test asks for it. */
export function desk(options: Options = {}, start: number = Date.UTC(2026, 0, 5, 7, 30)) {
  const clock = testClock(start);
  const store = options.store ?? memoryStore({ clock });
  const app = runtime({ app: 'desk', recover: 'manual', ports: { clock }, ...options, store });
  return { app, clock, store };
}

/** Does all that is due, and all that comes of it. */
export async function work(app: Runtime): Promise<void> {
  for (let runs = 1; runs > 0; ) {
    const found = await app.recovery.resumeStopped();
    await Promise.all(found.map((run) => run.settled()));
    runs = found.length;
  }
  await app.recovery.resumeStopped();
}

/** An action that notes its firings. */
export function noting(name = 'note') {
  const seen: TriggerContext[] = [];
  const made = action({
    name,
    execute: (context) => {
      seen.push(context);
      return 'noted';
    },
  });
  return { made, seen };
}
