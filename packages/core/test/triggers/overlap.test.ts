import {
  type OverlapAction,
  type OverlapPolicy,
  type OverlapQuestion,
  type OverlapReason,
  overlapDecision,
} from 'adjutant/triggers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

const open = { instant: Date.parse('2027-06-01T12:00Z') };
const waiting = { ...open, waitsForPerson: true };
const ending = { ...open, cancelled: true };

test.each<[OverlapPolicy, OverlapQuestion, OverlapAction, OverlapReason]>([
  ['skip', { open: undefined, queued: 0 }, 'start', 'nothing_open'],
  ['skip', { open, queued: 0 }, 'skip', 'previous_open'],
  ['skip', { open: waiting, queued: 0 }, 'skip', 'previous_waits_for_person'],
  ['skip', { open: ending, queued: 0 }, 'skip', 'previous_ending'],
  ['skip', { open: undefined, queued: 1 }, 'skip', 'one_waits'],
  ['queue', { open: undefined, queued: 0 }, 'start', 'nothing_open'],
  ['queue', { open, queued: 0 }, 'queue', 'previous_open'],
  ['queue', { open: waiting, queued: 9 }, 'queue', 'previous_waits_for_person'],
  ['queue', { open, queued: 10 }, 'coalesce', 'queue_full'],
  ['queue', { open: undefined, queued: 2 }, 'queue', 'one_waits'],
  ['coalesce', { open: undefined, queued: 0 }, 'start', 'nothing_open'],
  ['coalesce', { open, queued: 0 }, 'queue', 'previous_open'],
  ['coalesce', { open, queued: 1 }, 'coalesce', 'one_waits'],
  ['cancel_previous', { open: undefined, queued: 0 }, 'start', 'nothing_open'],
  ['cancel_previous', { open, queued: 0 }, 'cancel_first', 'previous_open'],
  ['cancel_previous', { open: waiting, queued: 0 }, 'cancel_first', 'previous_waits_for_person'],
  ['cancel_previous', { open: ending, queued: 0 }, 'queue', 'previous_ending'],
  ['cancel_previous', { open: ending, queued: 1 }, 'coalesce', 'one_waits'],
])('%s with %j: %s, since %s', (policy, question, action, reason) => {
  expect(overlapDecision(policy, question)).toMatchObject({ action, reason });
});

test('a decision says which work goes on, and that it waits for a person', () => {
  expect(overlapDecision('skip', { open: waiting, queued: 0 }).reasoning).toBe(
    'The work of the firing of 2027-06-01T12:00:00.000Z waits for a person. ' +
      'The trigger skips this firing.',
  );
  expect(overlapDecision('queue', { open, queued: 10 }).reasoning).toBe(
    'The work of the firing of 2027-06-01T12:00:00.000Z goes on. ' +
      '10 firings wait already: this one joins the last of them.',
  );
});

describe('over any firings and ends', () => {
  const step = fc.constantFrom('fire', 'end', 'wait for a person');
  const policies = fc.constantFrom<OverlapPolicy>('skip', 'queue', 'coalesce', 'cancel_previous');

  test('at most one is at work, at most 10 wait, and none is forgotten', () => {
    fc.assert(
      fc.property(policies, fc.array(step, { maxLength: 60 }), (policy, steps) => {
        let work: OverlapQuestion['open'];
        let queued = 0;
        let [fired, begun, skipped, joined] = [0, 0, 0, 0];
        for (const next of steps) {
          if (next === 'wait for a person' && work) work = { ...work, waitsForPerson: true };
          if (next === 'end') {
            work = queued > 0 ? open : undefined;
            begun += queued > 0 ? 1 : 0;
            queued = Math.max(0, queued - 1);
          }
          if (next !== 'fire') continue;
          fired += 1;
          const { action } = overlapDecision(policy, { open: work, queued });
          if (action === 'start') {
            expect(work).toBeUndefined();
            work = open;
            begun += 1;
          }
          if (action === 'cancel_first') work = { ...open, cancelled: true };
          if (action === 'cancel_first' || action === 'queue') queued += 1;
          if (action === 'coalesce') expect(queued).toBeGreaterThan(0);
          skipped += action === 'skip' ? 1 : 0;
          joined += action === 'coalesce' ? 1 : 0;
          expect(queued).toBeLessThanOrEqual(policy === 'queue' ? 10 : 1);
        }
        expect(begun + queued + skipped + joined).toBe(fired);
        if (policy !== 'skip') expect(skipped).toBe(0);
      }),
    );
  });
});
