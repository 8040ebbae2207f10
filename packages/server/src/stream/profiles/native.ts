import type { Profile } from '../frame.ts';

/** The events as they are, each under the name of its type. */
export const nativeProfile: Profile<undefined> = {
  start: undefined,
  fold: (state, event) => ({ state, frames: [{ event: event.type, data: event }] }),
  resumed: (state) => state,
};
