import { type AttemptRequest, planAttempt, type SendAttempt } from 'adjutant/notifications';
import fc from 'fast-check';
import { expect, test } from 'vitest';

const channels = [
  { name: 'stream', idempotent: true },
  { name: 'sms', idempotent: false },
];
const notice = { id: 'n' };
const none = { permanent: false, effect: 'none' } as const;
const unknown = { permanent: false, effect: 'unknown' } as const;
const failed = (
  channel: string,
  at: number,
  failure: SendAttempt['failure'] = none,
): SendAttempt => ({
  ...{ channel, at },
  ...(failure === undefined ? {} : { failure }),
});

const base: AttemptRequest = { notice, channels, attempts: [], now: 0 };

test.each<[string, Partial<AttemptRequest>, object]>([
  ['the first channel is tried first', {}, { action: 'send', channel: 'stream', attempt: 1 }],
  [
    'a failure that may pass is tried again after a wait',
    { attempts: [failed('stream', 10)], now: 10 },
    { action: 'wait', channel: 'stream', until: 5_010, reason: 'backoff' },
  ],
  [
    'after the wait',
    { attempts: [failed('stream', 10)], now: 5_010 },
    { action: 'send', channel: 'stream', attempt: 2 },
  ],
  [
    'waits grow',
    { attempts: [failed('stream', 10), failed('stream', 6_000)], now: 6_000 },
    { action: 'wait', channel: 'stream', until: 26_000, reason: 'backoff' },
  ],
  [
    'the wait that the service asks for is kept',
    { attempts: [failed('stream', 0, { ...none, retryAfterMs: 60_000 })], now: 0 },
    { action: 'wait', channel: 'stream', until: 60_000, reason: 'asked_to_wait' },
  ],
  [
    'a service that asks for hours is left for the next channel',
    { attempts: [failed('stream', 0, { ...none, retryAfterMs: 7_200_000 })] },
    { action: 'send', channel: 'sms', attempt: 1 },
  ],
  [
    'a failure that stays leads to the next channel at once',
    { attempts: [failed('stream', 0, { permanent: true, effect: 'none' })] },
    { action: 'send', channel: 'sms', attempt: 1 },
  ],
  [
    'an unknown outcome is tried again where doubles do no harm',
    { attempts: [failed('stream', 0, unknown)], now: 5_000 },
    { action: 'send', channel: 'stream', attempt: 2 },
  ],
  [
    'and not where they arrive',
    {
      attempts: [
        failed('stream', 0, { permanent: true, effect: 'none' }),
        failed('sms', 0, unknown),
      ],
    },
    {
      ...{ action: 'give_up', reason: 'may_have_arrived' },
      channels: [
        { channel: 'stream', reason: 'permanent' },
        { channel: 'sms', reason: 'may_have_arrived' },
      ],
    },
  ],
  [
    'a channel that has had its attempts is left',
    { attempts: [failed('stream', 0), failed('stream', 1), failed('stream', 2)] },
    { action: 'send', channel: 'sms', attempt: 1 },
  ],
  [
    'a notice that would expire before the next attempt goes to the next channel',
    { notice: { id: 'n', expiresAt: 4_000 }, attempts: [failed('stream', 0)] },
    { action: 'send', channel: 'sms', attempt: 1 },
  ],
  [
    'a notice that has expired is given up',
    { notice: { id: 'n', expiresAt: 4_000 }, now: 4_000 },
    { action: 'give_up', reason: 'expired', channels: [] },
  ],
  [
    'without a channel nothing can be sent',
    { channels: [] },
    { action: 'give_up', reason: 'no_channel', channels: [] },
  ],
  [
    'one success is the end',
    { attempts: [failed('stream', 0), { channel: 'stream', at: 1 }], now: 9_999 },
    { action: 'sent', channel: 'stream' },
  ],
])('%s', (_, change, expected) => {
  expect(planAttempt({ ...base, ...change })).toEqual(expected);
});

test('an attempt that falls into quiet hours waits for their end, unless it is urgent', () => {
  const quietHours = { from: '22:00', to: '07:00', timeZone: 'UTC' };
  const now = Date.UTC(2026, 10, 27, 23);
  const until = Date.UTC(2026, 10, 28, 7);
  const request = { ...base, quietHours, now };
  expect(planAttempt(request)).toEqual({
    ...{ action: 'wait', channel: 'stream', until, reason: 'quiet_hours' },
  });
  expect(planAttempt({ ...request, notice: { id: 'n', urgent: true } }).action).toBe('send');
  expect(planAttempt({ ...request, notice: { id: 'n', expiresAt: until } })).toMatchObject({
    ...{ action: 'give_up', reason: 'expired' },
  });
});

test('retries that cannot be are refused', () => {
  expect(() => planAttempt({ ...base, retry: { attempts: 0 } })).toThrow(
    expect.objectContaining({ code: 'invalid_option' }),
  );
});

const failure = fc.record({
  permanent: fc.boolean(),
  effect: fc.constantFrom('none' as const, 'unknown' as const),
  retryAfterMs: fc.option(fc.nat({ max: 1_000_000 }), { nil: undefined }),
});

test('every notice comes to an end, whatever fails', () => {
  const outcomes = fc.array(fc.option(failure, { nil: undefined, freq: 20 }), { maxLength: 12 });
  fc.assert(
    fc.property(outcomes, fc.boolean(), (list, jitter) => {
      const attempts: SendAttempt[] = [];
      let now = 0;
      for (let turn = 0; turn < 40; turn++) {
        const request = { ...base, attempts, now, retry: { jitter } };
        const next = planAttempt(request);
        expect(planAttempt(request)).toEqual(next);
        if (next.action === 'sent' || next.action === 'give_up') {
          const unknowns = attempts.filter(
            ({ channel, failure: why }) => channel === 'sms' && why?.effect === 'unknown',
          );
          expect(unknowns.length).toBeLessThanOrEqual(1);
          return;
        }
        if (next.action === 'wait') {
          expect(next.until).toBeGreaterThan(now);
          now = next.until;
        } else {
          expect(next.attempt).toBeLessThanOrEqual(3);
          const index = attempts.length;
          attempts.push(failed(next.channel, now, index < list.length ? list[index] : none));
        }
      }
      throw new Error('The notice has no end.');
    }),
  );
});
