import { type Event, type Runtime, runtime, type Store } from 'adjutant';

export const apps: Runtime[] = [];
export const holds: (() => void)[] = [];

export function app(store: Store, more: Partial<Parameters<typeof runtime>[0]> = {}): Runtime {
  const made = runtime({ app: 'accepted', store, recover: 'manual', ...more });
  apps.push(made);
  return made;
}

export async function storedEvents(store: Store, session: string): Promise<readonly Event[]> {
  const events: Event[] = [];
  for await (const page of store.for({ tenant: 'default', app: 'accepted' }).read(session))
    events.push(...page);
  return events;
}

export const textsOf = (events: readonly Event[]): readonly string[] =>
  events.flatMap((event) => (event.type === 'user' ? [event.text] : []));
