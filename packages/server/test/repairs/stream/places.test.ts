import { type Event, memoryStore, type Runtime, type StreamEvent } from 'adjutant';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { server } from '../../../src/index.ts';
import type { SentFrame } from '../../../src/stream/frame.ts';
import { positionOf, withoutRead } from '../../../src/stream/position.ts';
import { type ProfileName, profileNames, withProfile } from '../../../src/stream/profile-names.ts';
import { sessionTelling } from '../../../src/stream/telling.ts';
import type { ReadFrame } from '../../stream/sse-reader.ts';
import {
  append,
  appWith,
  get,
  manyRuns,
  open,
  readTo,
  runEvents,
  session,
  stream,
} from './long-session.ts';

/** Returns the frames of a stream as they were before there were replays: each event by itself. */
function simply(
  profile: ProfileName,
  events: readonly Event[],
  position: string,
): readonly SentFrame[] {
  const { after, frames: read } = positionOf(new Request('http://localhost/'), position);
  return withProfile(profile, (rules): readonly SentFrame[] => {
    const telling = sessionTelling(profile, rules);
    let state = telling.start;
    const tell = (event: StreamEvent): readonly SentFrame[] => {
      const told = telling.tell(state, event);
      state = told.state;
      return told.frames;
    };
    for (const event of events) if (event.seq <= after) tell(event);
    if (after > 0) state = rules.resumed(state);
    return events
      .filter(({ seq }) => seq > after)
      .flatMap((event) => (event.seq === after + 1 ? withoutRead(tell(event), read) : tell(event)));
  });
}

async function eventsOf(app: Runtime): Promise<readonly Event[]> {
  const events: Event[] = [];
  for await (const event of app.sessions.events(session))
    if (event.type !== 'unreadable') events.push(event);
  return events;
}

const arrivals = fc.array(
  fc.record({
    profile: fc.constantFrom(...profileNames),
    at: fc.nat(),
    leaves: fc.option(fc.nat(40)),
    pace: fc.nat(3),
  }),
  {
    minLength: 1,
    maxLength: 12,
  },
);

test(
  'A3: whoever comes where, how slowly it reads and whoever leaves: all are told what one ' +
    'reader alone would be',
  async () => {
    const store = memoryStore();
    const app = await appWith(store, [...manyRuns(70), ...runEvents('open', true)]);
    const made = server(app, { limits: { replays: 2 } });
    const events = await eventsOf(app);
    const last = String(events.length);
    const positions = Object.fromEntries(
      profileNames.map((profile) => [
        profile,
        ['0', ...simply(profile, events, '0').flatMap(({ id }) => id ?? [])],
      ]),
    ) as unknown as Record<ProfileName, readonly string[]>;
    await fc.assert(
      fc.asyncProperty(arrivals, async (readers) => {
        await Promise.all(
          readers.map(async ({ profile, at, leaves, pace }) => {
            const ids = positions[profile];
            const position = ids[at % ids.length] as string;
            const expected = simply(profile, events, position);
            const reader = await open(made, `${stream}?profile=${profile}&after=${position}`);
            const told: ReadFrame[] = [];
            const wanted = Math.min(expected.length, leaves ?? Number.POSITIVE_INFINITY);
            while (told.length < wanted) {
              for (let turn = 0; turn < pace; turn++)
                await new Promise((resolve) => setImmediate(resolve));
              told.push((await reader.next()) as ReadFrame);
            }
            await reader.close();
            const plain = expected.slice(0, wanted).map(({ id, event, data }) => ({
              id,
              event,
              data: JSON.parse(JSON.stringify(data)),
            }));
            expect(told).toEqual(plain);
          }),
        );
      }),
      { numRuns: 25 },
    );
    expect(last).toBe(String(events.length));
    await app.close();
  },
);

/** True for frames that stay. A client that comes back within a message gets its text in others. */
function isLasting({ id, event }: ReadFrame): boolean {
  return id !== undefined || event === 'end';
}

test('A3: a stream of a run goes on exactly where it was cut', async () => {
  const app = await appWith(memoryStore(), [
    ...manyRuns(40),
    ...runEvents('r'),
    ...manyRuns(5, 100),
  ]);
  const made = server(app);
  for (const profile of profileNames) {
    const path = `/v1/sessions/${session}/runs/r/stream?profile=${profile}`;
    const whole = await (await open(made, path)).rest();
    expect(whole.at(-1)?.event).toBe('end');
    for (const [place, { id }] of whole.entries()) {
      if (id === undefined || id === String(whole.at(-2)?.id)) continue;
      const rest = await (await open(made, `${path}&after=${id}`)).rest();
      expect(rest.filter(isLasting)).toEqual(whole.slice(place + 1).filter(isLasting));
    }
    expect((await get(made, `${path}&after=${whole.at(-2)?.id}`)).status).toBe(204);
  }
  await app.close();
});

test(
  'A3: a session that was deleted and made again is told anew, and nothing of ' + 'the old one',
  async () => {
    const store = memoryStore();
    const app = await appWith(store, manyRuns(50));
    const made = server(app);
    for (const profile of profileNames) {
      await readTo(made, `${stream}?profile=${profile}`, '500');
      await (await open(made, `${stream}?profile=${profile}&after=400`)).close();
    }
    expect((await get(made, `/v1/sessions/${session}/runs/run-1`)).status).toBe(200);
    // By another process: this server is not told.
    await app.store.for({ tenant: app.tenant, app: app.app }).delete(session);
    await append(app, manyRuns(60, 1_000));
    const events = await eventsOf(app);
    for (const profile of profileNames) {
      const frames = await readTo(made, `${stream}?profile=${profile}`, '600');
      const expected = simply(profile, events, '0').map(({ id, event, data }) => ({
        id,
        event,
        data: JSON.parse(JSON.stringify(data)),
      }));
      expect(frames).toEqual(expected);
    }
    expect((await get(made, `/v1/sessions/${session}/runs/run-1`)).status).toBe(404);
    expect((await get(made, `/v1/sessions/${session}/runs/run-1000`)).status).toBe(200);
    await app.close();
  },
);
