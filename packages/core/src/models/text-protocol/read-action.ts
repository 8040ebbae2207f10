import type { WrittenAction } from './answer-parts.ts';
import { isNoAction, readActionText } from './spellings/action-text.ts';
import type { Action } from './spellings/call-object.ts';
import type { OfferedTools } from './spellings/offered-tools.ts';
import { reading } from './spellings/read-problem.ts';
import { unreadableCall } from './unreadable-action.ts';

/**
 * Returns the actions of an answer. An unreadable one becomes a call that tells the model what is
 * wrong with it. With `isCut` the last action is not completed: arguments that were cut off must
 * not be guessed.
 */
export function readActions(
  written: readonly WrittenAction[],
  tools: OfferedTools,
  isCut: boolean,
): readonly Action[] {
  return written.flatMap((action, index) => {
    if (action.read !== undefined)
      return action.read.type === 'calls'
        ? action.read.actions
        : [unreadableCall(action.written, action.read.problem)];
    const isLast = index === written.length - 1;
    return readMarked(action.written, tools, isCut && isLast);
  });
}

function readMarked(written: string, tools: OfferedTools, isCut: boolean): readonly Action[] {
  if (isNoAction(written)) return [];
  const read = reading(() => readActionText(written, tools, isCut));
  if ('value' in read) return read.value;
  const problem = isCut ? `it was cut off before its end: ${read.problem}` : read.problem;
  return [unreadableCall(written.trim(), problem)];
}
