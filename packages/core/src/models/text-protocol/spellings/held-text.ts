import { areKnown, readActionText } from './action-text.ts';
import type { Action } from './call-object.ts';
import { type CallSequence, readCallSequence } from './call-sequence.ts';
import type { OfferedTools } from './offered-tools.ts';
import { startsWithMarkup } from './openers.ts';
import { announces, beginning, isExample, lastSentence } from './prose.ts';
import { reading } from './read-problem.ts';

/** A part of an answer without a marker that may be a call. */
export interface HeldText {
  readonly text: string;
  /** Kind of the text before it: nothing, text for the user, or a thought. */
  readonly behind: 'nothing' | 'text' | 'thought';
  readonly before: string;
  readonly isCut: boolean;
}

export type HeldReading =
  | { readonly type: 'calls'; readonly actions: readonly Action[] }
  | { readonly type: 'unreadable'; readonly problem: string }
  | { readonly type: 'text' };

const label =
  /^action\s{0,3}:\s{0,9}|^(?:tool|function)(?:[ _]call)?\s{0,3}:\s{0,9}|^call\s{0,3}:\s{0,9}/i;
const inventedResult = /^<\/?tool_(?:response|output|result)|^<｜tool▁outputs/;
const isText: HeldReading = Object.freeze({ type: 'text' });

/**
 * Decides if a text is a call or only talks about one. Calls in the markup of a model family count
 * unless they are an example. Others count when nothing else is in the answer, behind a thought,
 * or when the text around says that the call is made now.
 */
export function readHeld(held: HeldText, tools: OfferedTools): HeldReading {
  const text = held.text.trim();
  const labelLength = label.exec(text)?.[0].length ?? 0;
  if (labelLength > 0) return readLabelled(text.slice(labelLength), held, tools);
  const hasMarkup = startsWithMarkup(text);
  const sequence = readCallSequence(text, tools, { isMarked: hasMarkup, isCut: held.isCut });
  if (hasMarkup) return ofMarkup(sequence, held);
  if (sequence.actions.length === 0) return ofUnreadable(text, sequence, held, tools);
  if (!areKnown(sequence.actions, tools)) return isText;
  return isMeant(sequence, held) ? { type: 'calls', actions: sequence.actions } : isText;
}

function readLabelled(text: string, held: HeldText, tools: OfferedTools): HeldReading {
  if (held.behind === 'text' && !announces(lastSentence(held.before))) return isText;
  const read = reading(() => readActionText(text, tools, held.isCut));
  return 'value' in read && areKnown(read.value, tools)
    ? { type: 'calls', actions: read.value }
    : isText;
}

function ofMarkup(
  { actions, rest, isRestBelow, problem }: CallSequence,
  held: HeldText,
): HeldReading {
  if (isExample(lastSentence(held.before))) return isText;
  const isBroken = problem !== undefined && (rest === '' || /^[[{<]|^\w+\s*[({<]/.test(rest));
  if (isBroken) return { type: 'unreadable', problem };
  if (actions.length > 0 && /^["'{}[\],:=)]/.test(rest))
    return { type: 'unreadable', problem: 'text that may belong to the call stands behind it' };
  if (actions.length === 0) return isText;
  const isOver = rest === '' || inventedResult.test(rest) || isRestBelow;
  return isOver && !isExample(beginning(rest)) ? { type: 'calls', actions } : isText;
}

function isMeant({ rest, isRestBelow }: CallSequence, { behind, before }: HeldText): boolean {
  if (rest !== '' && !inventedResult.test(rest))
    return behind === 'nothing' && isRestBelow && announces(beginning(rest));
  if (behind === 'nothing') return true;
  const sentence = lastSentence(before);
  return behind === 'thought' ? !isExample(sentence) : announces(sentence);
}

const namedInJson =
  /["'“]?(?:tool|action|tool_name|name|function)["'”]?\s{0,5}[:=]\s{0,5}["'“]([\w.-]{1,100})["'”]/i;
const argumentsInJson =
  /["'“]?(?:arguments|args|action_input|tool_input|input|parameters)["'”]?\s{0,5}[:=]/i;
const functionCall = /^(?:```\w{0,20}\s{1,9})?([A-Za-z_][\w.]{0,99})\(/;

/** A broken call that is the whole answer is told to the model; it would be no answer either. */
function ofUnreadable(
  text: string,
  { problem }: CallSequence,
  { behind }: HeldText,
  tools: OfferedTools,
): HeldReading {
  if (problem === undefined || behind !== 'nothing') return isText;
  const json = argumentsInJson.test(text) ? namedInJson.exec(text)?.[1] : undefined;
  const named = json ?? (/\)[\s`]{0,9}$/.test(text) ? functionCall.exec(text)?.[1] : undefined);
  return named !== undefined && tools.find(named) !== undefined
    ? { type: 'unreadable', problem }
    : isText;
}
