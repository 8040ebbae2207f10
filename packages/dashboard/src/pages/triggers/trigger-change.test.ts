import type { ServerTrigger } from '@adjutant/server/client';
import { expect, test } from 'vitest';
import { changeOf, fieldsOfTrigger, unlessChangeable } from './trigger-change.ts';

const trigger = {
  name: 'morning',
  status: 'active',
  on: { kind: 'cron', pattern: '0 8 * * 1', timeZone: 'Europe/Berlin' },
  start: 'writer',
  input: 'Write.',
  missed: 'once',
  overlap: 'skip',
  mostPerHour: 600,
  reentrant: 0,
  revision: 1,
  createdAt: 0,
  queued: 0,
  fired: 0,
  failed: 0,
} satisfies ServerTrigger;

test('a trigger is changed in what the reader has changed, and in nothing else', () => {
  const fields = fieldsOfTrigger(trigger);
  expect(changeOf(trigger, fields)).toBe('Nothing is changed.');
  expect(changeOf(trigger, { ...fields, pattern: '0 9 * * 1' })).toEqual({
    on: { kind: 'cron', pattern: '0 9 * * 1', timeZone: 'Europe/Berlin' },
  });
  // `null` takes an option away.
  expect(changeOf(trigger, { ...fields, input: ' ', overlap: 'queue' })).toEqual({
    input: null,
    overlap: 'queue',
  });
  expect(changeOf(trigger, { ...fields, pattern: '' })).toMatch(/^Write a pattern/);
});

test('each cause comes back as it was, and an interval keeps its jitter', () => {
  const instant = new Date(2027, 5, 1, 15, 30).getTime();
  const causes = [
    { kind: 'every', everyMs: 900_000, jitterMs: 5_000 },
    { kind: 'every', everyMs: 172_800_000 },
    { kind: 'at', instant },
    { kind: 'event', pattern: 'mail.*' },
    { kind: 'cron', pattern: '0 8 * * 1' },
  ];
  for (const on of causes) {
    const one = { ...trigger, on };
    expect(changeOf(one, fieldsOfTrigger(one))).toBe('Nothing is changed.');
  }
  const every = { ...trigger, on: { kind: 'every', everyMs: 900_000, jitterMs: 5_000 } };
  expect(fieldsOfTrigger(every)).toMatchObject({ every: '15', unit: '60000' });
  expect(changeOf(every, { ...fieldsOfTrigger(every), every: '20' })).toEqual({
    on: { kind: 'every', everyMs: 1_200_000, jitterMs: 5_000 },
  });
});

test('what has functions, and what is over, is not changed here', () => {
  expect(unlessChangeable(trigger)).toBe(undefined);
  for (const changed of [{ on: { kind: 'webhook' } }, { status: 'deleted' }] as const)
    expect(unlessChangeable({ ...trigger, ...changed } as ServerTrigger)).toBeDefined();
});
