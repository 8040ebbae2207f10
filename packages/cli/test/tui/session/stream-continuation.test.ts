import type { StreamEvent } from 'adjutant';
import { expect, test } from 'vitest';
import { StreamContinuation } from '../../../src/tui/session/stream-continuation.ts';

const run = { invocationId: 'run', agent: 'coder' } as const;
const says = (delta: string): StreamEvent => ({ type: 'assistant_delta', ...run, delta });
const thinks = (delta: string): StreamEvent => ({ type: 'thought_delta', ...run, delta });
const reset: StreamEvent = { type: 'stream_reset', ...run };

function passedOn(events: readonly StreamEvent[]): readonly StreamEvent[] {
  const continuation = new StreamContinuation();
  return events.flatMap((event) => continuation.take(event));
}

test.each<[string, StreamEvent[], StreamEvent[]]>([
  [
    'goes on behind what was told',
    [says('One, two'), reset, says('One, two, three')],
    [says('One, two'), says(', three')],
  ],
  [
    'comes again in other pieces',
    [says('One, two'), reset, says('One'), says(', two,'), says(' three')],
    [says('One, two'), says(','), says(' three')],
  ],
  ['is lost twice', [says('One'), reset, reset, says('One, two')], [says('One'), says(', two')]],
  [
    'is another one',
    [says('One, two'), reset, says('One'), says(' more')],
    [says('One, two'), reset, says('One more')],
  ],
  [
    'thinks first',
    [thinks('Hm'), says('One'), reset, thinks('Hm'), says('One, two')],
    [thinks('Hm'), says('One'), says(', two')],
  ],
  ['is the first that comes', [reset, says('One')], [reset, says('One')]],
])('an answer that %s', (_name, events, passed) => {
  expect(passedOn(events)).toEqual(passed);
});

test('an attempt that failed is followed by its reset', () => {
  const end = { type: 'model_end', seq: 3, id: 'e', at: 0, v: 1, ...run } as unknown as StreamEvent;
  expect(passedOn([says('One'), end, reset, says('One')])).toEqual([
    says('One'),
    end,
    reset,
    says('One'),
  ]);
});
