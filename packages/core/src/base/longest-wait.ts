/**
 * Milliseconds that a call may wait for another attempt because the other side asks for it: half of
 * the time that a run has by default.
 */
export const longestWaitMs = 300_000;
