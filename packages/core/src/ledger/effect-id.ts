/** How the last part of a tool call's id reads. No effect of a body may be named like it. */
const callPart = /^r\d+\.\d+$/;

/** Whether an effect's key would make its id look like that of a tool call. */
export function readsLikeCall(key: string): boolean {
  return callPart.test(key);
}

/**
 * Whether attempts and results with this id are those of `ctx.effect`, which no model has asked
 * for, and not of a tool call.
 */
export function isEffectId(callId: string): boolean {
  return !callPart.test(callId.slice(callId.lastIndexOf('/') + 1));
}
