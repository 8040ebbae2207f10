import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { SentFrame } from './frame.ts';
import { WrittenFrames } from './written-frames.ts';

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

test('a frame is written once for all who are told it', () => {
  const written = new WrittenFrames();
  const data = { type: 'assistant_delta', delta: 'Hello' };
  const first = written.of({ event: 'assistant_delta', data });
  expect(text(first)).toBe(
    'event: assistant_delta\ndata: {"type":"assistant_delta","delta":"Hello"}\n\n',
  );
  expect(written.of({ event: 'assistant_delta', data })).toBe(first);
  written.forget();
  expect(written.of({ event: 'assistant_delta', data })).not.toBe(first);
});

test('whatever was written before, a frame is written as it is', () => {
  const datas = Array.from({ length: 100 }, (_, number) => ({ number }));
  const frame = fc.record(
    {
      id: fc.constantFrom('1', '1.1', '2'),
      event: fc.constantFrom('a', 'b'),
      data: fc.constantFrom(...datas),
    },
    { requiredKeys: ['event', 'data'] },
  );
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 300 }), (frames: readonly SentFrame[]) => {
      const written = new WrittenFrames();
      for (const told of frames)
        expect(text(written.of(told))).toBe(text(new WrittenFrames().of(told)));
    }),
  );
});
