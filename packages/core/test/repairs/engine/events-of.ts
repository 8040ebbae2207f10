import type { Event, Runtime } from 'adjutant';

export async function eventsOf(app: Runtime): Promise<readonly Event[]> {
  const events: Event[] = [];
  for await (const event of app.sessions.events('s')) events.push(event as Event);
  return events;
}
