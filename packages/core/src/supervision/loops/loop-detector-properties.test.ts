import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../base/json.ts';
import type { ToolResult } from '../../ledger/tool-result.ts';
import type { CallEvidence } from '../evidence.ts';
import { judgeCall, judgeResult } from './loop-detector.ts';
import {
  call,
  failed,
  never,
  options,
  play,
  shown,
  success,
  times,
} from './played-calls.fixture.ts';

const anyResult = fc.oneof(
  fc.constantFrom('a', 'b').map(success),
  fc.constantFrom('http_403', 'timeout', 'rejected').map((type) => failed(type)),
  fc.constant<ToolResult>({ status: 'unknown', content: '' }),
);
const anyStep = fc.record({
  call: fc.record({
    name: fc.constantFrom('p', 'q'),
    args: fc.constantFrom<JsonValue>({}, { a: 1, b: 2 }),
    turn: fc.constant(1),
    isKnown: fc.constant(true),
  }),
  result: anyResult,
});
describe('whatever is called', () => {
  const thresholds = fc.record({
    window: fc.integer({ min: 1, max: 100 }),
    warnAt: fc.integer({ min: 1, max: 8 }),
    blockAt: fc.integer({ min: 1, max: 8 }),
    pollWarnAt: fc.integer({ min: 1, max: 25 }),
    pollBlockAt: fc.integer({ min: 1, max: 25 }),
    stallWarnAt: fc.integer({ min: 1, max: 25 }),
    stallBlockAt: fc.integer({ min: 1, max: 25 }),
    onLoop: fc.constant('answer' as const),
  });

  it('nothing is warned of or refused before its threshold, and no first call at all', () => {
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 60 }), thresholds, (steps, given) => {
        const called = new Map<string, number>();
        for (const [i, { block, warn }] of play(steps, given).entries()) {
          const made = (steps[i] as (typeof steps)[number]).call;
          const key = JSON.stringify([made.name, made.args]);
          const before = called.get(key) ?? 0;
          if (block === undefined) called.set(key, before + 1);
          if (block !== undefined)
            expect(before + 1).toBeGreaterThanOrEqual(
              Math.max(2, Math.min(given.blockAt, given.pollBlockAt)),
            );
          if (warn !== undefined)
            expect(before + 1).toBeGreaterThanOrEqual(
              Math.max(2, Math.min(given.warnAt, given.pollWarnAt)),
            );
          expect(block?.count ?? 0).toBeLessThanOrEqual(before + 1);
        }
      }),
    );
  });

  it('the thresholds are those that were given', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 12 }),
        fc.integer({ min: 2, max: 12 }),
        fc.boolean(),
        (warnAt, blockAt, changes) => {
          const given = changes
            ? { ...options, warnAt: 50, blockAt: 50, pollWarnAt: warnAt, pollBlockAt: blockAt }
            : { ...options, warnAt, blockAt, pollWarnAt: 50, pollBlockAt: 50 };
          const judged = play(
            times(14, (i) => ({ call: call('look'), result: success(changes ? i : 0) })),
            given,
          );
          const expected = times(14, (i) => ({ call: call(String(i)), result: success(0) })).map(
            (_, i) => (i + 1 >= blockAt ? 'x' : i + 1 >= warnAt ? 'w' : '.'),
          );
          expect(shown(judged)).toBe(expected.join(''));
        },
      ),
    );
  });

  it('a model that asks for nothing else is stopped, whatever the tool answers', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('a', 'b', 'c').map(success), { minLength: 40, maxLength: 40 }),
        (results) => {
          const judged = play(results.map((result) => ({ call: call('look'), result })));
          expect(judged.filter(({ ran }) => ran).length).toBeLessThan(options.pollBlockAt);
        },
      ),
    );
  });

  it('vetoes and exempt results change nothing', () => {
    const noise: readonly ToolResult[] = [
      failed('loop_blocked', 'error_blocked'),
      failed('rejected', 'error_blocked'),
      { status: 'unknown', content: '' },
    ];
    fc.assert(
      fc.property(
        fc.array(anyStep, { maxLength: 25 }),
        fc.infiniteStream(fc.nat(3)),
        anyStep,
        (steps, extras, last) => {
          const plain: CallEvidence[] = steps.map(({ call: { name, args, turn }, result }) => ({
            name,
            args,
            turn,
            result,
          }));
          const noisy = plain.flatMap((evidence) => {
            const extra = noise[extras.next().value as number];
            return extra === undefined ? [evidence] : [evidence, { ...evidence, result: extra }];
          });
          expect(judgeCall(noisy, last.call, options, never)).toEqual(
            judgeCall(plain, last.call, options, never),
          );
          expect(judgeResult(noisy, last.call, last.result, options)).toEqual(
            judgeResult(plain, last.call, last.result, options),
          );
        },
      ),
    );
  });
});
