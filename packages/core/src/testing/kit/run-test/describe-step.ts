import { cutText } from '../../../base/text/cut-text.ts';
import type { TestStep } from './steps.ts';

const longestText = 120;

/** Formats a value as one short line. */
export function inShort(value: unknown, longest = longestText): string {
  const text =
    value instanceof Error
      ? `${value.name}: ${value.message}`
      : typeof value === 'function'
        ? '…'
        : jsonOf(value);
  return text.length <= longest ? text : `${cutText(text, longest)}…`;
}

/**
 * Returns JSON of a value. Errors and functions have none, and errors of libraries may refer to
 * themselves.
 */
function jsonOf(value: unknown): string {
  const shown = (_key: string, part: unknown): unknown => {
    if (part instanceof Error) return `${part.name}: ${part.message}`;
    return typeof part === 'function' ? '…' : part;
  };
  try {
    return JSON.stringify(value, shown) ?? String(value);
  } catch {
    return String(value);
  }
}

/** Formats a step as it is written in code. */
export function stepText(step: TestStep): string {
  switch (step.kind) {
    case 'user':
      return `user(${inShort(step.text)})`;
    case 'model':
      return `model(${inShort(step.response)}${ofAgent(step.agent)})`;
    case 'input':
    case 'result':
      return `${step.kind}(${valuesText(step.values)})`;
    case 'answer':
      return answerText(step);
    case 'crash':
      return Object.keys(step.place).length === 0 ? 'crash()' : `crash(${inShort(step.place)})`;
    case 'advanceTime':
      return `advanceTime(${step.ms})`;
    case 'publish':
      return `publish(${inShort(step.event.type)}, ${inShort(step.event.data)})`;
    case 'fire':
      return `fire(${inShort(step.trigger)})`;
    case 'expectPrompt':
      return `expectPrompt(…${ofAgent(step.agent)})`;
    case 'meanwhile':
      return 'meanwhile(…)';
  }
}

function ofAgent(agent: string | undefined): string {
  return agent === undefined ? '' : `, ${inShort({ agent })}`;
}

function valuesText(values: object): string {
  return `{ ${Object.entries(values)
    .map(([name, value]) => `${name}: ${inShort(value)}`)
    .join(', ')} }`;
}

function answerText({ decision, choice, input }: Extract<TestStep, { kind: 'answer' }>): string {
  const { tool, ...rest } = choice;
  const more = Object.keys(rest).length === 0 ? '' : inShort(rest);
  if (decision === 'edit') {
    const edited = valuesText({ [tool ?? '']: input });
    return `edit(${[edited, more].filter((part) => part !== '').join(', ')})`;
  }
  const chosen =
    Object.keys(choice).length === 0 ? '' : more === '' ? inShort(tool) : inShort(choice);
  if (decision === 'approve' || decision === 'reject') return `${decision}(${chosen})`;
  return `answer(${[`'${decision}'`, chosen].filter((part) => part !== '').join(', ')})`;
}
