import { unreadableAction } from '../../ledger/tool-name.ts';

/**
 * The finding that a call is a loop, and the reaction: a note to the model (`warn`), or a refusal
 * (`block`).
 */
export interface LoopVerdict {
  readonly level: 'warn' | 'block';
  readonly detector:
    | 'repeat'
    | 'poll'
    | 'ping_pong'
    | 'unknown_tool'
    | 'unreadable_action'
    | 'exhausted'
    | 'stall';
  /** The number of this call among the equal calls, or of its round in a row, from 1. */
  readonly count: number;
  /** For the model. */
  readonly message: string;
  /** For people. */
  readonly reasoning: string;
  readonly alternatives: readonly string[];
}

type Level = LoopVerdict['level'];

/** The counts from which a detector warns and blocks. */
interface Thresholds {
  readonly warnAt: number;
  readonly blockAt: number;
}

function ordinal(count: number): string {
  const ending =
    count % 100 >= 11 && count % 100 <= 13 ? 'th' : (['th', 'st', 'nd', 'rd'][count % 10] ?? 'th');
  return `${count}${ending}`;
}

/** Returns the choices that were not taken. */
function alternativesTo(level: Level): readonly string[] {
  return level === 'warn'
    ? ['say nothing', 'refuse the call']
    : ['make the call again', 'warn only', 'end the run'];
}

const nothingNew = {
  repeat: 'always with the same result',
  ping_pong: 'by turns with another call, both always with the same results',
  poll: 'with results that change',
} as const;

/** Verdict about equal calls. */
export function repeated(
  level: Level,
  detector: keyof typeof nothingNew,
  name: string,
  count: number,
  { warnAt, blockAt }: Thresholds,
): LoopVerdict {
  const how = `with the same arguments, ${nothingNew[detector]}`;
  const reasoning =
    `${name} was called for the ${ordinal(count)} time ${how}. It is warned of from the ` +
    `${ordinal(warnAt)} such call, and the ${ordinal(blockAt)} is not made any more.`;
  const announced = count < blockAt ? ` The ${ordinal(blockAt)} such call will not be made.` : '';
  const message =
    level === 'block'
      ? `Not run: this would be the ${ordinal(count)} call of ${name} ${how}. Do not make it ` +
        'again: use what you have, find another way, or answer and say what could not be found ' +
        'out.'
      : `This was the ${ordinal(count)} call of ${name} ${how}. Calling it again will not help: ` +
        `use what you have, or find another way.${announced}`;
  return { level, detector, count, message, reasoning, alternatives: alternativesTo(level) };
}

/** Verdict about a call for whose failure nothing is left to be tried. */
export function exhausted(
  name: string,
  count: number,
  failure: string,
  isKnown: boolean,
): LoopVerdict {
  const isUnreadable = name === unreadableAction;
  const message = isKnown
    ? `Not run: this call of ${name} failed before (${failure}), and all that could be done ` +
      'about it was tried. Do not call it again with these arguments: use another way, or answer ' +
      'with what you have and say what could not be found out.'
    : isUnreadable
      ? `This action could not be read either. ${giveAnswer}`
      : `Not run: there is no tool named "${name}", as you were told. ${useTheList}`;
  const said = isKnown
    ? `${name} was called for the ${ordinal(count)} time with the same arguments. Its last ` +
      `result was ${failure}`
    : isUnreadable
      ? `An action could not be read for the ${ordinal(count)} time`
      : `There is no tool ${name}, and it was called for the ${ordinal(count)} time`;
  const reasoning = isKnown
    ? `${said}, and the chain of strategies for it has no step left.`
    : `${said}. The chain of strategies for it has no step left.`;
  const alternatives = alternativesTo('block');
  return { level: 'block', detector: 'exhausted', count, message, reasoning, alternatives };
}

const useTheList = 'Use only tools of your list, or answer and say what could not be found out.';
const giveAnswer =
  'Do not write it again: give your final answer with what you have, and say what could not be ' +
  'found out.';

/**
 * Verdict about calls without a tool: of names that are invented, or actions that cannot be read.
 * @param inARow true when the count is of any invented names in a row
 */
export function withoutTool(
  level: Level,
  name: string,
  count: number,
  inARow: boolean,
  { warnAt, blockAt }: Thresholds,
): LoopVerdict {
  const isUnreadable = name === unreadableAction;
  const such = inARow
    ? 'in a row of a tool that does not exist'
    : `of ${name}, and there is no such tool`;
  const one = isUnreadable ? 'action that could not be read' : `call ${such}`;
  const next = isUnreadable ? 'action will not be answered' : 'call will not be made';
  const announced = count < blockAt ? ` The ${ordinal(blockAt)} such ${next}.` : '';
  const message = isUnreadable
    ? level === 'block'
      ? `This action could not be read either. ${giveAnswer}`
      : `This was the ${ordinal(count)} ${one}. Write it in the form that you were given, or ` +
        `give your final answer.${announced}`
    : level === 'block'
      ? `Not run: this would be the ${ordinal(count)} ${one}. ${useTheList}`
      : `This was the ${ordinal(count)} ${one}. Use only tools of your list, or answer with what ` +
        `you have.${announced}`;
  const reasoning =
    `It was the ${ordinal(count)} ${one}. The model is warned from the ${ordinal(warnAt)} on, ` +
    `and the ${ordinal(blockAt)} is refused.`;
  const detector = isUnreadable ? 'unreadable_action' : 'unknown_tool';
  return { level, detector, count, message, reasoning, alternatives: alternativesTo(level) };
}

/** Verdict about rounds without anything new. A block is of the round after `count - 1` of them. */
export function stalled(
  level: Level,
  name: string,
  count: number,
  { warnAt, blockAt }: Thresholds,
): LoopVerdict {
  const past = level === 'block' ? count - 1 : count;
  const last = past === 1 ? 'The last round' : `The last ${past} rounds`;
  const announced =
    count < blockAt ? ` In the ${ordinal(blockAt)} such round these tools are not run.` : '';
  const message =
    level === 'block'
      ? `Not run: ${last.toLowerCase()} brought nothing new. Take another way without ${name}, ` +
        'or answer and say what could not be found out.'
      : `${last} brought nothing new. More of the same will not help: take another way, or ` +
        `answer with what you have.${announced}`;
  const reasoning =
    `${last} brought nothing new: every call ended as one before it had. The model is warned ` +
    `from the ${ordinal(warnAt)} such round, and in the ${ordinal(blockAt)} calls of the same ` +
    'tools are not made.';
  return {
    level,
    detector: 'stall',
    count,
    message,
    reasoning,
    alternatives: alternativesTo(level),
  };
}
