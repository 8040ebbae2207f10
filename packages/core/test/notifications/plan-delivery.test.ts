import {
  type DeliveryPlan,
  isQuiet,
  joinNotices,
  type Notice,
  planDelivery,
} from 'adjutant/notifications';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

const quietHours = { from: '22:00', to: '07:00', timeZone: 'Europe/Berlin' };
const evening = Date.parse('2026-11-27T22:00:00Z');
const morning = Date.parse('2026-11-28T06:00:00Z');
const noon = Date.parse('2026-11-27T11:00:00Z');

function notice(id: string, more: Partial<Notice> = {}): Notice {
  return { id, tenant: 'acme', user: 'ada', title: `Title ${id}`, text: `Text ${id}`, ...more };
}

describe('planDelivery', () => {
  test('a first notice is sent at once', () => {
    const plan = planDelivery({ notices: [notice('a')], now: noon });
    expect(plan).toEqual({ send: [notice('a')], wait: [], drop: [] });
  });

  test('what comes within 30 s is sent together, 30 s after the last sending', () => {
    const notices = [notice('a'), notice('b')];
    const early = planDelivery({ notices, now: noon + 1_000, lastSentAt: noon });
    const until = noon + 30_000;
    expect(early).toEqual({
      send: [],
      wait: [
        { notice: 'a', until, reason: 'interval' },
        { notice: 'b', until, reason: 'interval' },
      ],
      drop: [],
      nextAt: until,
    });
    expect(planDelivery({ notices, now: until, lastSentAt: noon }).send).toEqual(notices);
  });

  test('in quiet hours only what is urgent is sent; the rest waits for their end', () => {
    const notices = [notice('a'), notice('b', { urgent: true })];
    expect(planDelivery({ notices, now: evening, quietHours })).toEqual({
      send: [notices[1]],
      wait: [{ notice: 'a', until: morning, reason: 'quiet_hours' }],
      drop: [],
      nextAt: morning,
    });
  });

  test('what expires in quiet hours is dropped with that reason', () => {
    const notices = [
      notice('a', { expiresAt: morning }),
      notice('b', { expiresAt: morning, urgent: true }),
      notice('c', { expiresAt: morning + 1 }),
      notice('d', { expiresAt: evening }),
    ];
    const plan = planDelivery({ notices, now: evening, quietHours });
    expect(plan.send.map(({ id }) => id)).toEqual(['b']);
    expect(plan.wait.map(({ notice: id }) => id)).toEqual(['c']);
    expect(plan.drop).toEqual([
      { notice: 'a', reason: 'expires_in_quiet_hours' },
      { notice: 'd', reason: 'expired' },
    ]);
  });

  test('an interval that ends in quiet hours waits for their end', () => {
    const lastSentAt = Date.parse('2026-11-27T20:59:50Z');
    const notices = [notice('a'), notice('b', { urgent: true })];
    const plan = planDelivery({ notices, now: lastSentAt + 1_000, lastSentAt, quietHours });
    expect(plan.wait).toEqual([
      { notice: 'a', until: morning, reason: 'quiet_hours' },
      { notice: 'b', until: lastSentAt + 30_000, reason: 'interval' },
    ]);
  });

  test('a notice that comes twice is sent once', () => {
    const plan = planDelivery({ notices: [notice('a'), notice('a')], now: noon });
    expect(plan.send).toHaveLength(1);
    expect(plan.drop).toEqual([{ notice: 'a', reason: 'repeated' }]);
  });

  test('quiet hours that cannot be are refused', () => {
    const wrong = { ...quietHours, timeZone: 'Mars' };
    expect(() => planDelivery({ notices: [], now: noon, quietHours: wrong })).toThrow(
      expect.objectContaining({ code: 'invalid_option' }),
    );
  });
});

interface Arrival {
  readonly at: number;
  readonly notice: Notice;
}

interface Told {
  readonly sent: readonly { readonly at: number; readonly notices: readonly Notice[] }[];
  readonly dropped: ReadonlyMap<string, string>;
}

/** Delivers notices as a notifier does: it plans with each arrival and when its plan says so. */
function deliver(arrivals: readonly Arrival[], quiet: typeof quietHours | undefined): Told {
  const queue = [...arrivals].sort((one, other) => one.at - other.at);
  const sent: { at: number; notices: readonly Notice[] }[] = [];
  const dropped = new Map<string, string>();
  let waiting: readonly Notice[] = [];
  let wakeAt: number | undefined;
  for (;;) {
    const now = Math.min(
      queue[0]?.at ?? Number.POSITIVE_INFINITY,
      wakeAt ?? Number.POSITIVE_INFINITY,
    );
    if (now === Number.POSITIVE_INFINITY) return { sent, dropped };
    while (queue[0]?.at === now) waiting = [...waiting, (queue.shift() as Arrival).notice];
    const lastSentAt = sent.at(-1)?.at;
    const plan: DeliveryPlan = planDelivery({
      ...{ notices: waiting, now, lastSentAt, quietHours: quiet },
    });
    const ids = [...plan.send.map(({ id }) => id), ...plan.wait.map((each) => each.notice)];
    const all = [...ids, ...plan.drop.map((each) => each.notice)];
    expect(all.toSorted()).toEqual(waiting.map(({ id }) => id).toSorted());
    for (const { notice: id, reason } of plan.drop) dropped.set(id, reason);
    if (plan.send.length > 0) sent.push({ at: now, notices: plan.send });
    const left = new Set(plan.wait.map((each) => each.notice));
    waiting = waiting.filter(({ id }) => left.has(id));
    wakeAt = plan.nextAt;
    if (wakeAt !== undefined) expect(wakeAt).toBeGreaterThan(now);
  }
}

const starts = [
  noon,
  evening,
  // Both changes of the clock in Berlin.
  Date.parse('2026-03-28T20:59:00Z'),
  Date.parse('2026-10-24T19:59:00Z'),
];

const arrivals = fc.record({
  start: fc.constantFrom(...starts),
  list: fc.array(
    fc.record({
      after: fc.oneof(fc.nat({ max: 90_000 }), fc.nat({ max: 12 * 3_600_000 })),
      urgent: fc.boolean(),
      lifeMs: fc.option(
        fc.oneof(fc.integer({ min: 1, max: 60_000 }), fc.integer({ min: 1, max: 50_000_000 })),
      ),
    }),
    { maxLength: 30 },
  ),
});

test('never two sendings within 30 s, and nothing is lost without a reason', () => {
  fc.assert(
    fc.property(arrivals, fc.boolean(), ({ start, list }, hasQuietHours) => {
      const quiet = hasQuietHours ? quietHours : undefined;
      const all = list.map(({ after, urgent, lifeMs }, index): Arrival => {
        const at = start + after;
        const expiry = lifeMs === null ? {} : { expiresAt: at + lifeMs };
        return { at, notice: notice(`${index}`, { urgent, ...expiry }) };
      });
      const { sent, dropped } = deliver(all, quiet);
      sent.forEach(({ at }, index) => {
        const before = sent[index - 1]?.at ?? Number.NEGATIVE_INFINITY;
        expect(at - before).toBeGreaterThanOrEqual(30_000);
      });
      for (const { at, notice: one } of all) {
        const deliveries = sent.filter(({ notices }) => notices.includes(one));
        expect(deliveries.length + Number(dropped.has(one.id))).toBe(1);
        const sentAt = deliveries[0]?.at;
        if (sentAt === undefined) continue;
        expect(sentAt).toBeLessThan(one.expiresAt ?? Number.POSITIVE_INFINITY);
        // Urgent notices break quiet hours, others never do.
        if (one.urgent === true) expect(sentAt - at).toBeLessThanOrEqual(30_000);
        else if (quiet !== undefined) expect(isQuiet(quiet, sentAt)).toBe(false);
      }
      const urgent = all
        .filter((each) => each.notice.urgent === true)
        .map((each) => each.notice.id);
      for (const id of urgent) expect(dropped.get(id)).not.toBe('expires_in_quiet_hours');
    }),
    { numRuns: 300 },
  );
});

describe('joinNotices', () => {
  test('a single notice stays as it is', () => {
    expect(joinNotices([notice('a')])).toEqual(notice('a'));
  });

  test('several become one that lists them, with the same id for the same notices', () => {
    const action = { label: 'Open', url: 'https://example.com' };
    const about = { session: 's' };
    const notices = [
      notice('a', { about, expiresAt: 5, actions: [action] }),
      notice('b', { about, expiresAt: 9, urgent: true }),
    ];
    const joined = joinNotices(notices);
    expect(joined).toEqual({
      id: expect.stringMatching(/^joined-[0-9a-f]{32}$/),
      ...{ tenant: 'acme', user: 'ada', joins: ['a', 'b'], about, urgent: true, expiresAt: 9 },
      title: '2 notices',
      text: 'Title a\nText a\n\nTitle b\nText b',
      actions: [{ label: 'Open: Title a', url: 'https://example.com' }],
    });
    expect(joinNotices(notices)).toEqual(joined);
    expect(joinNotices([joined, notice('c')]).joins).toEqual(['a', 'b', 'c']);
  });

  test('it does not expire while one of them does not, and refers to nothing in common', () => {
    const joined = joinNotices([
      notice('a', { expiresAt: 5, about: { session: 's' } }),
      notice('b'),
    ]);
    expect(joined).not.toHaveProperty('expiresAt');
    expect(joined).not.toHaveProperty('about');
    expect(joined).not.toHaveProperty('urgent');
  });

  test('hundreds stay short', () => {
    const text = '👩‍👩‍👧‍👦'.repeat(1_000);
    const joined = joinNotices(Array.from({ length: 300 }, (_, id) => notice(`${id}`, { text })));
    expect(joined.text.length).toBeLessThan(7_000);
    expect(joined.text.isWellFormed()).toBe(true);
    expect(joined.text.endsWith('And 280 more.')).toBe(true);
    expect(joined.joins).toHaveLength(300);
  });

  test.each([
    ['none', []],
    ['two users', [notice('a'), notice('b', { user: 'bob' })]],
    ['two tenants', [notice('a'), notice('b', { tenant: 'other' })]],
  ])('%s are refused', (_, notices) => {
    expect(() => joinNotices(notices)).toThrow(expect.objectContaining({ code: 'invalid_option' }));
  });
});
