import { CancelScope } from '../../../base/cancel-scope.ts';
import { performEffect } from '../../../effects/body-effect/perform-effect.ts';
import type { EffectRecord, EffectRequest } from '../../../effects/body-effect/ports.ts';
import { effectStandingIn } from '../../../effects/stand-ins.ts';
import { Activity } from '../../frame/activity.ts';
import { assertEffect, assertOutsideEffect } from './body-effects.ts';
import type { BodyWork } from './body-work.ts';

/** Returns the result of an effect of a body: the recorded one, or that of performing it. */
export function performBodyEffect(work: BodyWork, request: EffectRequest): Promise<unknown> {
  const { body, landed } = work;
  const { place } = body;
  body.assertOpen('effect');
  assertOutsideEffect(place, 'effect');
  assertEffect(request);
  const { key, callId } = request;
  work.keys.claimForEffect(key);
  place.onChild?.();
  const { writes } = body;
  writes.settleBase();
  const record = work.effects.get(callId) ?? {
    attempts: [],
    settled: undefined,
    judgesAgain: false,
  };
  const [first] = record.attempts;
  if (first === undefined) writes.assertInOrder();
  else landed.landedBefore(first.seq, key);
  const givenFrom = record.settled?.seq;
  const turn = givenFrom === undefined ? undefined : work.inRecordedOrder(givenFrom);
  const ended = beginEffect(work, request, record);
  return ended.then(async (given) => {
    if (given === undefined) return work.release.neverReturn();
    const delay = turn ?? work.afterRecorded();
    if (delay !== undefined) await delay;
    await landed.assertLanded(key, record.attempts[0]?.seq);
    const turning = place.run.turn();
    if (turning !== undefined) await turning;
    return given.value;
  });
}

type Performed = ReturnType<typeof performEffect>;

/** Performs an effect once the drift gate lets it begin. */
function beginEffect(
  { body: { place, writes }, children, drift }: BodyWork,
  request: EffectRequest,
  record: EffectRecord,
): Promise<Awaited<Performed> | undefined> {
  const { run, path, by, activity } = place;
  const { key, callId } = request;
  const scope = new CancelScope(children.scope);
  const mayBegin =
    record.attempts.length === 0 ? drift.delayEffect(callId, scope) : drift.askedEffect(callId);
  const made = mayBegin === undefined ? undefined : writes.queued();
  const perform = (): Performed => {
    // The body does not wait for the outside as long as it does something itself.
    const underWay = new Activity(callId, activity());
    const standing = effectStandingIn(request, run.ledger.session, run.app.standIns);
    const performed = performEffect(standing, record, {
      ledger: run.ledger,
      clock: run.app.clock,
      scope,
      path,
      by,
      takeWrites: () => writes.take(key, { of: made }),
    });
    const end = (): void => underWay.end();
    performed.then(end, end);
    return performed;
  };
  const ended =
    mayBegin === undefined
      ? perform()
      : mayBegin.then((begins) => (begins ? perform() : undefined));
  const forget = (): void => scope.close();
  children.add(ended.then(forget, forget));
  return ended;
}
