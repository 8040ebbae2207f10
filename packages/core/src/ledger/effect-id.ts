import { lastPartOf } from './path.ts';

/** Form of the last part of a tool call's id. No effect of a body may have a key of this form. */
const callPart = /^r\d+\.\d+$/;

/** Checks that an effect's key would make its id look like the id of a tool call. */
export function readsLikeCall(key: string): boolean {
  return callPart.test(key);
}

/**
 * Checks that attempts and results with this id belong to `ctx.effect`, and not to a tool call of a
 * model.
 */
export function isEffectId(callId: string): boolean {
  return !callPart.test(lastPartOf(callId));
}
