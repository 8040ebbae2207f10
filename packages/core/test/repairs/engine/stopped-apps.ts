import { type Event, memoryStore, type Runtime, runtime, type Step } from 'adjutant';

export const apps: Runtime[] = [];

export function appOf(...runnables: readonly Step[]): Runtime {
  const app = runtime({ app: 'bodies', store: memoryStore(), recover: 'manual', runnables });
  apps.push(app);
  return app;
}

/** Continues a run from the first events of its ledger, in an app that knows nothing of it. */
export async function continueFrom(events: readonly Event[], body: Step) {
  const app = appOf(body);
  const session = await app.sessions.restore({ app: 'bodies', id: 's', events: [...events] });
  const result = await app.run(body, { session, runId: 'run' });
  return { result, session };
}

export const upTo = (
  events: readonly Event[],
  isLast: (event: Event) => boolean,
): readonly Event[] => events.slice(0, events.findIndex(isLast) + 1);
export const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn++)
    await new Promise<void>((resolve) => setImmediate(resolve));
};
export const changesOf = (events: readonly Event[], key: string) =>
  events.flatMap((event) =>
    event.type === 'state_change' ? event.changes.filter((change) => change.key === key) : [],
  );
export const add = (n: unknown): number => Number(n ?? 0) + 1;
