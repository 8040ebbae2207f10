/**
 * States of work that does not go on now: the only words for it in the engine.
 * - `waiting`: it goes on when something comes from outside, such as an answer or a message. Its
 *   body is alive.
 * - `paused`: the gate of its run is closed, so nothing new begins. A pause closes it, or the end
 *   of a round or of a slice of time.
 * - `yielded`: everything in it was waiting or paused. The ledger says so, and its bodies have
 *   ended.
 * - `released`: this process works on it no more, and has recorded no outcome. Any process may
 *   continue it.
 */
export type Standstill = 'waiting' | 'paused' | 'yielded' | 'released';
