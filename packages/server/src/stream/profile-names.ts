import type { Profile } from './frame.ts';
import { messagesProfile } from './profiles/messages.ts';
import { nativeProfile } from './profiles/native.ts';
import { stepsProfile } from './profiles/steps.ts';

/** Names of the profiles of a stream. */
export const profileNames = ['native', 'steps', 'messages'] as const;

export type ProfileName = (typeof profileNames)[number];

/** Does something with the profile of a name, whatever its states are. */
export function withProfile<Result>(
  name: ProfileName,
  use: <State>(profile: Profile<State>) => Result,
): Result {
  switch (name) {
    case 'native':
      return use(nativeProfile);
    case 'steps':
      return use(stepsProfile);
    case 'messages':
      return use(messagesProfile);
  }
}
