import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ToolResultStatus } from '../ledger/tool-result.ts';
import { toolResultWith } from '../tools/result.ts';
import { type BreakerOutcome, breakerOutcome, CircuitBreakers } from './circuit-breaker.ts';

const options = { failures: 3, resetAfterMs: 1_000 };

function failing(times: number, breakers = new CircuitBreakers(options)): CircuitBreakers {
  for (let i = 0; i < times; i++) breakers.record('work', 'failure', 0);
  return breakers;
}

describe('a circuit', () => {
  test(
    'opens with the last of so many failures in a row, and refuses calls until its time is ' +
      'over',
    () => {
      const breakers = failing(2);
      expect(breakers.admit('work', 0)).toEqual({ admitted: true, change: undefined });
      expect(breakers.record('work', 'failure', 10)).toEqual({ change: 'open', failures: 3 });
      expect(breakers.admit('work', 10)).toEqual({
        admitted: false,
        failures: 3,
        retryInMs: 1_000,
      });
      expect(breakers.admit('work', 1_009)).toEqual({ admitted: false, failures: 3, retryInMs: 1 });
      expect(breakers.admit('other', 10)).toEqual({ admitted: true, change: undefined });
    },
  );

  test('a success in between begins the count anew; what says nothing of the tool does not', () => {
    const breakers = failing(2);
    breakers.record('work', 'success', 0);
    expect(breakers.record('work', 'failure', 0)).toBeUndefined();
    expect(breakers.record('work', 'neutral', 0)).toBeUndefined();
    expect(breakers.record('work', 'failure', 0)).toBeUndefined();
    expect(breakers.record('work', 'failure', 0)).toMatchObject({ change: 'open' });
  });

  test('half open it lets one call through at a time; its success closes it', () => {
    const breakers = failing(3);
    expect(breakers.peek('work', 1_000)).toEqual({
      admitted: true,
      change: { change: 'half_open', failures: 3 },
    });
    expect(breakers.admit('work', 1_000)).toMatchObject({
      admitted: true,
      change: { change: 'half_open' },
    });
    expect(breakers.admit('work', 1_100)).toMatchObject({ admitted: false });
    expect(breakers.record('work', 'success', 1_200)).toEqual({ change: 'close', failures: 3 });
    expect(breakers.admit('work', 1_200)).toEqual({ admitted: true, change: undefined });
  });

  test('a failure of that call opens it anew; a neutral end lets the next one look', () => {
    const breakers = failing(3);
    breakers.admit('work', 1_000);
    expect(breakers.record('work', 'failure', 1_500)).toEqual({ change: 'open', failures: 4 });
    expect(breakers.admit('work', 2_400)).toMatchObject({ admitted: false, retryInMs: 100 });
    expect(breakers.admit('work', 2_500)).toMatchObject({
      admitted: true,
      change: { change: 'half_open' },
    });
    expect(breakers.record('work', 'neutral', 2_600)).toBeUndefined();
    expect(breakers.admit('work', 2_600)).toMatchObject({
      admitted: true,
      change: { change: 'half_open' },
    });
  });

  test('a call of which nothing is heard does not keep it shut for ever', () => {
    const breakers = failing(3);
    breakers.admit('work', 1_000);
    expect(breakers.admit('work', 1_999)).toMatchObject({ admitted: false });
    expect(breakers.admit('work', 2_000)).toMatchObject({ admitted: true });
  });

  test('calls that began before it opened do not open it a second time', () => {
    const breakers = failing(3);
    expect(breakers.record('work', 'failure', 500)).toBeUndefined();
    expect(breakers.admit('work', 999)).toMatchObject({ admitted: false });
  });
});

describe('what counts as a failure of the tool', () => {
  test.each<[string, ToolResultStatus, BreakerOutcome]>([
    ['http_500', 'error_transient', 'failure'],
    ['http_503', 'error_transient', 'failure'],
    ['http_408', 'error_transient', 'failure'],
    ['http_429', 'error_transient', 'neutral'],
    ['http_403', 'error_blocked', 'neutral'],
    ['http_404', 'error_permanent', 'neutral'],
    ['timeout', 'timeout', 'failure'],
    ['connection_refused', 'error_transient', 'failure'],
    ['unknown_outcome', 'unknown', 'failure'],
    ['cancelled', 'unknown', 'neutral'],
    ['validation_error', 'error_permanent', 'neutral'],
    ['tool_error', 'error_permanent', 'neutral'],
    ['loop_blocked', 'error_blocked', 'neutral'],
    ['empty_result', 'success', 'success'],
    ['', 'partial', 'success'],
  ])('%s (%s): %s', (errorType, status, outcome) => {
    expect(
      breakerOutcome(toolResultWith(status, 'x', errorType === '' ? undefined : { errorType })),
    ).toBe(outcome);
  });
});

test(
  'whatever happens: open after so many failures and not before, one call at a time while ' +
    'half open',
  () => {
    const steps = fc.array(
      fc.tuple(
        fc.constantFrom('admit', 'success', 'failure', 'neutral'),
        fc.integer({ min: 0, max: 700 }),
      ),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(steps, (all) => {
        const breakers = new CircuitBreakers(options);
        let now = 0;
        let inARow = 0;
        let probes = 0;
        let isOpen = false;
        for (const [what, wait] of all) {
          now += wait;
          if (what === 'admit') {
            const admission = breakers.admit('work', now);
            if (!isOpen) expect(admission).toEqual({ admitted: true, change: undefined });
            if (admission.admitted && isOpen) probes = now;
            else if (!admission.admitted) expect(now - probes).toBeLessThan(options.resetAfterMs);
            continue;
          }
          const change = breakers.record('work', what as BreakerOutcome, now);
          if (what === 'failure') inARow++;
          if (what === 'success') inARow = 0;
          if (change?.change === 'open') {
            expect(inARow).toBeGreaterThanOrEqual(options.failures);
            isOpen = true;
            probes = now;
          } else if (!isOpen && what === 'failure') expect(inARow).toBeLessThan(options.failures);
          if (what === 'success') {
            expect(change?.change).toBe(isOpen ? 'close' : undefined);
            isOpen = false;
          }
        }
      }),
    );
  },
);
