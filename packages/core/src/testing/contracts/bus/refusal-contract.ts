import type { BusEvent } from '../../../bus/event-bus.ts';
import { contractExpect as expect } from '../store/contract-expect.ts';
import { busEvent, codeOf, collected, settled } from './bus-events.ts';
import type { BusTest, DefineBusTest } from './bus-under-test.ts';

const circle: { self?: unknown } = {};
circle.self = circle;

function nested(depth: number): unknown {
  let value: unknown = [];
  for (let level = 0; level < depth; level++) value = [value];
  return value;
}

const refused: readonly (readonly [name: string, change: object | null])[] = [
  ['no object', null],
  ['no id', { id: undefined }],
  ['an empty id', { id: '' }],
  ['an id that is a number', { id: 7 }],
  ['a very long id', { id: 'x'.repeat(201) }],
  ['a source with a line break', { source: 'a\nb' }],
  ['no type', { type: undefined }],
  ['an empty type', { type: '' }],
  ['an empty name in its type', { type: 'mail..received' }],
  ['a full stop at the end of its type', { type: 'mail.' }],
  ['a pattern as its type', { type: 'mail.*' }],
  ['a blank in its type', { type: 'mail received' }],
  ['a zero byte in its type', { type: 'mail\u0000' }],
  ['half a character in its type', { type: 'mail.\ud800' }],
  ['a very long type', { type: 'x'.repeat(201) }],
  ['no instant', { at: undefined }],
  ['an instant that is none', { at: Number.NaN }],
  ['no data', { data: undefined }],
  ['data with a function', { data: { run: () => undefined } }],
  ['data with a date', { data: new Date(0) }],
  ['data with a circle', { data: circle }],
  ['data that is nested without end', { data: nested(100_000) }],
  ['data of a megabyte', { data: 'x'.repeat(1_000_000) }],
  ['a member that does not exist', { payload: 1 }],
];

const patterns: readonly unknown[] = [
  ...['', '.', 'mail.', '.mail', 'mail..received', 'mail*', '***', 'mail.**x', 'a b', 'a\u0000'],
  ...['x'.repeat(201), undefined, null, 7, /mail/, ['mail']],
];

export function refusalContract(test: DefineBusTest): void {
  for (const [name, change] of refused)
    test(`an event with ${name} is refused`, async (given) => {
      const event = change === null ? null : { ...busEvent('mail.received'), ...change };
      await refusesEvent(given, event as BusEvent);
    });

  test('a pattern that is none is refused', async ({ bus }) => {
    for (const pattern of patterns) {
      const code = await codeOf(bus.subscribe(pattern as string, () => undefined));
      expect(code, `pattern ${String(pattern).slice(0, 20)}`).toBe('invalid_option');
    }
  });

  test('a callback or an option that is none is refused', async ({ bus }) => {
    const callback = () => undefined;
    const cases = [
      bus.subscribe('mail', undefined as never),
      bus.subscribe('mail', 'callback' as never),
      bus.subscribe('mail', callback, { onMissed: 7 as never }),
      bus.subscribe('mail', callback, { onLost: callback } as never),
    ];
    for (const each of cases) expect(await codeOf(each)).toBe('invalid_option');
  });
}

async function refusesEvent({ bus, other }: BusTest, event: BusEvent): Promise<void> {
  const heard = await collected(other, '**');
  expect(await codeOf(bus.publish(event))).toBe('invalid_bus_event');
  await settled(bus, other);
  expect(heard, 'what came is the last event only').toHaveLength(1);
}
