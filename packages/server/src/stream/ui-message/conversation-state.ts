import type { EventOf, JsonObject, JsonValue } from 'adjutant';
import type { DataPart, ToolPart } from './part.ts';
import {
  type OpenRound,
  ordered,
  type PlacedPart,
  type PlacedStep,
  withPart,
} from './placed-part.ts';

/**
 * Answer of an agent to a message: the events of the run from the message to its end or to the next
 * message.
 */
export interface UiAnswer {
  /**
   * Id of the message in the chat: that of the run, or of the last of the inputs that it answers.
   */
  readonly id: string;
  /**
   * The inputs that it answers: the run, which is named as the first one, or those that came while
   * it was open.
   */
  readonly to: readonly string[];
  readonly run: string;
  readonly steps: readonly PlacedStep[];
  /** Metadata of the message, which tools have given. */
  readonly metadata?: JsonObject;
}

/** State of the run of an answer that is not at work. */
export type AnswerRest =
  | { readonly type: 'waiting'; readonly reason: EventOf<'invocation_yield'>['reason'] }
  | { readonly type: 'ended'; readonly end: EventOf<'invocation_end'> };

/** State of a session's last run, as a chat shows it. */
export interface Conversation {
  readonly answer: UiAnswer | undefined;
  /** Messages of the chat that the next step answers. */
  readonly next: readonly string[];
  /**
   * True when the last of them was taken as an answer: whatever the run shows next answers it,
   * without a step of a model as well.
   */
  readonly isNextTaken: boolean;
  /** Missing while it is at work. */
  readonly rest: AnswerRest | undefined;
  /** Open rounds by invocation. */
  readonly rounds: Readonly<Record<string, OpenRound>>;
  /**
   * Calls that are not shown unless they ask for something: those of agents that work inside a
   * call.
   */
  readonly hidden: Readonly<Record<string, Pick<ToolPart, 'name' | 'input'>>>;
  /** Requests that are open, with the calls that they are about. */
  readonly asked: Readonly<Record<string, EventOf<'tool_yield'>>>;
  /** Calls that were rejected. */
  readonly denied: readonly string[];
}

export const noConversation: Conversation = {
  answer: undefined,
  next: [],
  isNextTaken: false,
  rest: undefined,
  rounds: {},
  hidden: {},
  asked: {},
  denied: [],
};

/** True when an agent works inside a call: its output is for the caller of the tool. */
export function isInsideCall(invocationId: string): boolean {
  return /\/r\d+\.\d+(?=[/>]|$)/.test(invocationId);
}

/** Changes the parts of the last step; begins one when there is none that is open. */
export function withSteps(
  state: Conversation,
  change: (parts: readonly PlacedPart[]) => readonly PlacedPart[],
  opens = false,
): Conversation {
  const { answer } = state;
  if (answer === undefined) return state;
  const last = answer.steps.at(-1);
  if (last === undefined || (last.isDone && opens)) {
    const parts = opens ? change([]) : [];
    return parts.length === 0
      ? state
      : {
          ...state,
          answer: { ...answer, steps: [...answer.steps, { parts: ordered(parts), isDone: false }] },
        };
  }
  const parts = change(last.parts);
  if (parts === last.parts) return state;
  return {
    ...state,
    answer: {
      ...answer,
      steps: [...answer.steps.slice(0, -1), { ...last, parts: ordered(parts) }],
    },
  };
}

/** Begins the answer to the messages that have come since the last one. */
export function withNextAnswer(state: Conversation): Conversation {
  const { answer, next } = state;
  const id = next.at(-1);
  if (answer === undefined || id === undefined) return state;
  return {
    ...state,
    next: [],
    isNextTaken: false,
    answer: { id, to: next, run: answer.run, steps: [] },
  };
}

export function withOpenStep(state: Conversation): Conversation {
  const { answer } = state;
  if (answer === undefined || answer.steps.at(-1)?.isDone === false) return state;
  return {
    ...state,
    answer: { ...answer, steps: [...answer.steps, { parts: [], isDone: false }] },
  };
}

export function add(state: Conversation, part: PlacedPart): Conversation {
  return withSteps(state, (parts) => withPart(parts, part), true);
}

/** Changes the part of a call, in whatever step it is. */
export function withCall(
  state: Conversation,
  callId: string,
  change: (part: ToolPart) => Partial<ToolPart>,
): Conversation {
  const { answer } = state;
  if (answer === undefined) return state;
  const steps = answer.steps.map((step) => {
    if (!step.parts.some((part) => part.kind === 'tool' && part.id === callId)) return step;
    return {
      ...step,
      parts: step.parts.map((part) =>
        part.kind === 'tool' && part.id === callId ? { ...part, ...change(part) } : part,
      ),
    };
  });
  return { ...state, answer: { ...answer, steps } };
}

/** Adds data of the app, or changes the part of the same type and id, in whatever step it is. */
export function withData(
  state: Conversation,
  part: DataPart & Pick<PlacedPart, 'order' | 'from'>,
): Conversation {
  const { answer } = state;
  const isThis = (known: PlacedPart): boolean =>
    known.kind === 'data' && known.id === part.id && known.type === part.type;
  if (answer?.steps.some(({ parts }) => parts.some(isThis)) !== true) return add(state, part);
  const steps = answer.steps.map((step) =>
    step.parts.some(isThis)
      ? {
          ...step,
          parts: step.parts.map((known) =>
            isThis(known) ? { ...known, data: part.data } : known,
          ) as readonly PlacedPart[],
        }
      : step,
  );
  return { ...state, answer: { ...answer, steps } };
}

export function findCall({ answer }: Conversation, callId: string): ToolPart | undefined {
  return answer?.steps
    .flatMap(({ parts }) => parts)
    .find((part): part is ToolPart & PlacedPart => part.kind === 'tool' && part.id === callId);
}

/** Closes the step when no round is open. */
export function settled(state: Conversation): Conversation {
  const { answer, rounds } = state;
  const last = answer?.steps.at(-1);
  if (answer === undefined || last === undefined || last.isDone || Object.keys(rounds).length > 0)
    return state;
  return {
    ...state,
    answer: { ...answer, steps: [...answer.steps.slice(0, -1), { ...last, isDone: true }] },
  };
}

export function withRound(
  state: Conversation,
  invocationId: string,
  round: OpenRound | undefined,
): Conversation {
  const { [invocationId]: _, ...others } = state.rounds;
  return round === undefined
    ? settled({ ...state, rounds: others })
    : { ...state, rounds: { ...others, [invocationId]: round } };
}

export function textOf(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
