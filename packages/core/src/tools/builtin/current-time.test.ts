import { callTool } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { currentTime } from './current-time.ts';

const now = Date.UTC(2026, 10, 21, 22, 18, 5);
const clock = { now: () => now };

test.each([
  ['UTC', '2026-11-21T22:18:05Z', 'Saturday'],
  ['Europe/Berlin', '2026-11-21T23:18:05+01:00', 'Saturday'],
  ['Asia/Tokyo', '2026-11-22T07:18:05+09:00', 'Sunday'],
  ['America/New_York', '2026-11-21T17:18:05-05:00', 'Saturday'],
  ['Asia/Kolkata', '2026-11-22T03:48:05+05:30', 'Sunday'],
  ['Asia/Kathmandu', '2026-11-22T04:03:05+05:45', 'Sunday'],
])('time in %s', async (timeZone, iso, day) => {
  const { status, content } = await callTool(currentTime({ clock }), { timeZone });
  expect(status).toBe('success');
  expect(content).toMatchObject({ iso, text: expect.stringContaining(day) });
  expect(Date.parse((content as { iso: string }).iso)).toBe(now);
});

test('the zone of the options counts when the model names none', async () => {
  const made = currentTime({ clock, timeZone: 'Asia/Tokyo' });
  expect(await callTool(made, {})).toMatchObject({
    content: { timeZone: 'Asia/Tokyo', iso: '2026-11-22T07:18:05+09:00' },
  });
});

test('without options it is the time of the system', async () => {
  const before = Date.now();
  const { content } = await callTool(currentTime(), {});
  expect(Date.parse((content as { iso: string }).iso)).toBeGreaterThanOrEqual(before - 1_000);
});

test.each(['Mars/Olympus', '', 'Berlin', '../../etc/passwd', '+99:99'])(
  '%j is refused with examples',
  async (timeZone) => {
    expect(await callTool(currentTime({ clock }), { timeZone })).toMatchObject({
      status: 'error_permanent',
      errorType: 'invalid_time_zone',
      alternatives: expect.arrayContaining([expect.stringContaining('Europe/Berlin')]),
    });
  },
);
