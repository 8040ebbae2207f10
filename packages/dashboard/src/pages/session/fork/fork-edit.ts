import type { NewFork } from '@adjutant/server/client';

export type Edit = 'none' | 'prompt' | 'state';

export interface Texts {
  /** Agent whose instructions are edited; empty for the one that acted last. */
  readonly agent: string;
  readonly instructions: string;
  readonly message: string;
  readonly state: string;
}

interface Wanted extends Texts {
  readonly edit: Edit;
  readonly hasActed: boolean;
  readonly before: Readonly<Record<string, unknown>>;
}

/** Returns the edit of a fork, or what is wrong with it. */
export function editOf({
  edit,
  hasActed,
  agent,
  instructions,
  message,
  state,
  before,
}: Wanted): Pick<NewFork, 'edit'> | string {
  if (edit === 'none') return {};
  if (edit === 'prompt') {
    const isInstructed = instructions.trim() !== '';
    if (isInstructed && agent === '' && !hasActed)
      return 'No agent has acted up to here. Choose the one that the instructions are for.';
    const prompt = {
      ...(isInstructed ? { instructions } : {}),
      ...(isInstructed && agent !== '' ? { agent } : {}),
      ...(message.trim() === '' ? {} : { message }),
    };
    return Object.keys(prompt).length === 0
      ? 'Write instructions or a message, or fork as it is.'
      : { edit: { prompt } };
  }
  let after: Readonly<Record<string, unknown>>;
  try {
    after = JSON.parse(state) as Readonly<Record<string, unknown>>;
  } catch (error) {
    return `This is no JSON: ${(error as Error).message}`;
  }
  if (typeof after !== 'object' || after === null || Array.isArray(after))
    return 'The state is an object: {"key": value}.';
  const changes = [
    ...Object.entries(after)
      .filter(([key, value]) => JSON.stringify(before[key]) !== JSON.stringify(value))
      .map(([key, value]) => ({ key, value })),
    ...Object.keys(before)
      .filter((key) => !Object.hasOwn(after, key))
      .map((key) => ({ key, delete: true as const })),
  ];
  return changes.length === 0
    ? 'Nothing is changed. Change a value, or fork as it is.'
    : { edit: { state: changes as never } };
}
