import { unknownToolType, unreadableAction } from '../ledger/tool-name.ts';
import { type Subject, textOf, toolOf } from './decision-subject.ts';

/** The failure that a decision is about, as a clause. */
export function failureOf(of: Subject): string {
  const { data, who } = of;
  if (data['errorType'] === unknownToolType) return `There is no tool ${textOf(data, 'tool')}`;
  if (data['tool'] === unreadableAction) return `An action of ${who} could not be read`;
  return `${toolOf(of)} failed`;
}

export function loopWarning(of: Subject): string {
  const warned = `${of.who} was warned that its`;
  if (of.data['tool'] === unreadableAction) return `${warned} actions cannot be read.`;
  if (of.data['detector'] === unknownToolType)
    return `${warned} calls are of tools that do not exist.`;
  return of.data['detector'] === 'stall'
    ? `${warned} last rounds brought nothing new.`
    : `${warned} calls of ${toolOf(of)} lead nowhere.`;
}

export function loopRefusal(of: Subject): string {
  const { who, data } = of;
  if (data['tool'] === unreadableAction)
    return `An action of ${who} was refused, because it could not be read again.`;
  if (data['detector'] === unknownToolType)
    return (
      `A call of ${textOf(data, 'tool')} by ${who} was refused, ` + 'because there is no such tool.'
    );
  const why = data['detector'] === 'stall' ? 'the last rounds had brought nothing new' : undefined;
  return (
    `A call of ${toolOf(of)} by ${who} was not run, because ` +
    `${why ?? 'calls like it had led nowhere'}.`
  );
}
