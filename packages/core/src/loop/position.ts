import { isRoot } from '../ledger/path.ts';
import { type AnswerState, startAnswer } from './position/answer.ts';
import { type CallsState, startCalls } from './position/calls.ts';
import { type ChildrenState, startChildren } from './position/children.ts';
import { type EndingState, startEnding } from './position/ending.ts';
import { type LimitsState, startLimits } from './position/limits.ts';
import { type ModelState, startModel } from './position/model.ts';
import { type PromptState, startPrompt } from './position/prompt.ts';
import { type SupervisionState, startSupervision } from './position/supervision.ts';
import { startTurns, type TurnState } from './position/turn.ts';

/**
 * State of an agent invocation, folded from its events. The fold changes the groups in place; each
 * group has its part of the fold beside it.
 */
export interface Position {
  readonly path: string;
  /** True when messages that belong to no invocation are for this agent. */
  readonly isRoot: boolean;
  readonly turn: TurnState;
  readonly model: ModelState;
  readonly prompt: PromptState;
  readonly answer: AnswerState;
  readonly calls: CallsState;
  readonly children: ChildrenState;
  readonly supervision: SupervisionState;
  readonly limits: LimitsState;
  readonly ending: EndingState;
}

export function startPosition(path: string): Position {
  return {
    path,
    isRoot: isRoot(path),
    turn: startTurns(),
    model: startModel(),
    prompt: startPrompt(),
    answer: startAnswer(),
    calls: startCalls(),
    children: startChildren(),
    supervision: startSupervision(),
    limits: startLimits(),
    ending: startEnding(),
  };
}
