import { isJsonObject, type Subject, textOf } from '../decision-subject.ts';

/** The beginning of a task, by a caller or by a trigger. */
export function beginningWords({ data }: Subject): string {
  const waited = `after it had waited with priority ${textOf(data, 'priority') ?? 'high'}`;
  const began = data['began'];
  const trigger = isJsonObject(began) ? textOf(began, 'trigger') : undefined;
  return trigger === undefined
    ? `The task "${textOf(data, 'name') ?? 'without a name'}" began ${waited}.`
    : `The trigger "${trigger}" fired: the task began ${waited}.`;
}

/** The action at a hard deadline. */
export function deadlineWords({ data, who }: Subject): string {
  switch (textOf(data, 'action')) {
    case 'partial':
      return `${who} was ended by its hard deadline, with what there was.`;
    case 'fallback':
      return `${who} was ended by its hard deadline, with a text that was prepared.`;
    case 'retry':
      return `${who} passed its hard deadline, and goes on later.`;
    case 'retry_when_idle':
      return `${who} passed its hard deadline, and goes on when nothing else waits.`;
    default:
      return `${who} was ended by its hard deadline.`;
  }
}
