import { plain, type Sentence, type Subject, textOf } from '../decision-subject.ts';

const subtaskOf = ({ data }: Subject): string =>
  `the subtask "${textOf(data, 'subtask') ?? 'without an id'}"`;

const reasons: Readonly<Record<string, string>> = {
  critical: 'which is critical',
  repeated: 'which had failed as often as it may',
  consecutive: 'right after another one',
  final: 'which would fail in the same way again',
};

const reasonOf = ({ data }: Subject): string => {
  const reason = reasons[textOf(data, 'because') ?? ''];
  return reason === undefined ? '' : `, ${reason}`;
};

/** Decisions of plans in words. */
export const planWords: Readonly<
  Record<'correct' | 'retry' | 'replan' | 'decompose' | 'wait' | 'give_up' | 'other', Sentence>
> = {
  correct: (of) => {
    const { problems } = of.data;
    const count = Array.isArray(problems) ? problems.length : 1;
    const wrong = count === 1 ? 'what is' : `${count} things that are`;
    return `The planner of ${of.who} was told ${wrong} wrong with its plan.`;
  },
  retry: (of) => `${of.who} tried ${subtaskOf(of)} again.`,
  replan: (of) =>
    `${of.who} made another plan, because ${subtaskOf(of)} had failed${reasonOf(of)}.`,
  decompose: (of) =>
    `${of.who} made another plan with smaller steps, because ${subtaskOf(of)} had failed again.`,
  wait: (of) => `A failure of ${subtaskOf(of)} was left to the new plan that was being made.`,
  give_up: (of) => `${of.who} gave up: ${subtaskOf(of)} had failed in every plan.`,
  other: (of) => `${of.who} decided about its plan: ${plain(of.decision)}.`,
};
