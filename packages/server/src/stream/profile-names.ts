import { type Teller, tellerOf } from './frame.ts';
import { messagesProfile } from './profiles/messages.ts';
import { nativeProfile } from './profiles/native.ts';
import { stepsProfile } from './profiles/steps.ts';

/** Names of the ways in which a stream can be told. */
export const profileNames = ['native', 'steps', 'messages'] as const;

export type ProfileName = (typeof profileNames)[number];

const makers: Readonly<Record<ProfileName, () => Teller>> = {
  native: () => tellerOf(nativeProfile),
  steps: () => tellerOf(stepsProfile),
  messages: () => tellerOf(messagesProfile),
};

export function tellerNamed(name: ProfileName): Teller {
  return makers[name]();
}
