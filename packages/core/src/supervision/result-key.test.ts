import { describe, expect, it } from 'vitest';
import { resultKey, tellsTheSame, withoutVolatile } from './result-key.ts';

const same: readonly (readonly [string, unknown, unknown])[] = [
  ['times', { at: '2026-01-02T10:00:00.123Z' }, { at: '2026-01-03T11:30:00Z' }],
  ['times with a zone', 'checked at 2026-01-02 10:00:00 +0100', 'checked at 2026-01-02 10:05 UTC'],
  ['times of day', 'as of 10:00:01', 'as of 10:00:02.5'],
  ['dates of HTTP', 'Date: Fri, 02 Jan 2026 10:00:00 GMT', 'Date: Sat, 03 Jan 2026 09:00:00 GMT'],
  ['epoch milliseconds', { at: 1_767_225_600_000, ok: true }, { at: 1_767_225_600_123, ok: true }],
  [
    'UUIDs',
    'request 0b0c4a3e-3f0a-4a36-9d2e-1f2a3b4c5d6e',
    'request 9b0c4a3e-3f0a-4a36-9d2e-1f2a3b4c5d6f',
  ],
  ['hexadecimal ids', 'trace 4bf92f3577b34da6a3ce929d0e0e4736', 'trace 00f067aa0ba902b7'],
  ['ids of letters and digits', 'id 01ARZ3NDEKTSV4RRFFQ69G5FAV', 'id 01BX5ZZKBKACTAV9WEVGEMMVRZ'],
  ['durations', 'no answer after 120 ms', 'no answer after 93 ms'],
  ['seconds', 'took 1.25s', 'took 3s'],
  [
    'members with durations',
    { durationMs: 12, status: 'open' },
    { durationMs: 4_711.5, status: 'open' },
  ],
  ['durations in JSON as text', '{"elapsed_ms":12}', '{"elapsed_ms":13}'],
  ['the order of members', { a: 1, b: 2 }, { b: 2, a: 1 }],
];

const different: readonly (readonly [string, unknown, unknown])[] = [
  ['numbers', { progress: 10 }, { progress: 20 }],
  ['days', { next: '2026-01-02' }, { next: '2026-01-03' }],
  ['minutes', 'ready in 10 minutes', 'ready in 5 minutes'],
  ['words that are long', 'internationalization', 'electroencephalographically'],
  ['short ids', 'order 1234', 'order 1235'],
  ['the end of long texts, by length', 'x'.repeat(150_000), 'x'.repeat(150_001)],
];

const key = (content: unknown) => resultKey({ status: 'success', content: content as never });

describe('tellsTheSame', () => {
  const result = { status: 'success', content: 'x' } as const;
  it.each([
    [{ ...result }, true],
    [{ ...result, metadata: { at: 1 } }, true],
    [{ ...result, content: 'y' }, false],
    [{ ...result, status: 'partial' }, false],
    [{ ...result, errorType: 'empty_result' }, false],
  ] as const)('%j: %s', (other, expected) => expect(tellsTheSame(result, other)).toBe(expected));
});

describe('resultKey', () => {
  it.each(same)('does not see %s', (_name, one, other) => expect(key(one)).toBe(key(other)));
  it.each(different)('sees %s', (_name, one, other) => expect(key(one)).not.toBe(key(other)));

  it('sees the status and the type of an error', () => {
    const results = [
      { status: 'success', content: 'x' },
      { status: 'error_permanent', content: 'x' },
      { status: 'error_permanent', content: 'x', errorType: 'http_403' },
      { status: 'error_permanent', content: 'x', errorType: 'http_404' },
    ] as const;
    expect(new Set(results.map(resultKey)).size).toBe(4);
  });

  it('is short for long results', () =>
    expect(key('word '.repeat(100_000)).length).toBeLessThanOrEqual(1_000));

  it.each([
    ['digits', '1'],
    ['hexadecimal digits', 'a1'],
    ['dates that never end', '2026-01-02T'],
    ['parts of UUIDs', '0b0c4a3e-'],
    ['quotes', '"duration'],
    ['numbers with points', '1.'],
    ['times that never end', '10:'],
  ])('takes time in proportion to the length of %s', (_name, part) => {
    // Quadratic time would take hours for a million characters: the test would run out of time.
    expect(withoutVolatile(part.repeat(1_000_000 / part.length)).length).toBeGreaterThan(0);
  });
});
