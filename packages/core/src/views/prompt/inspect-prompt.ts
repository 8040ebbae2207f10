import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { defined } from '../../base/defined.ts';
import { type RebuiltCall, rebuildCall } from '../../context/recipe.ts';
import { TokenGauge } from '../../context/token-gauge.ts';
import type { Event, EventOf } from '../../ledger/event.ts';
import type { AnySession } from '../../session/session.ts';
import { sourceOf } from '../view-source.ts';
import { PromptTrace } from './message-kinds.ts';
import { diffPrompts, type PromptSectionChange } from './prompt-diff.ts';
import {
  type PlaceRange,
  type PromptSection,
  promptOfSections,
  rangesOf,
  sectionsOf,
  tokensOf,
} from './prompt-sections.ts';

/** Prompt of a model call, in sections. */
export interface PromptInspection {
  /** Of its `model_start`. */
  readonly seq: number;
  /** Path of the agent's invocation. */
  readonly invocationId: string;
  readonly agent: string;
  /** `provider:model`. */
  readonly model: string;
  readonly round: number;
  readonly attempt: number;
  /** Estimated tokens of all sections. */
  readonly tokens: number;
  /** Input tokens that the provider reported for this call. */
  readonly reported?: number;
  readonly sections: readonly PromptSection[];
  /** Events that compactions or renderers have left out; missing when there are none. */
  readonly dropped?: DroppedEvents;
  /** Call of the same agent before this one, and the change since then. */
  readonly previous?: { readonly seq: number; readonly diff: readonly PromptSectionChange[] };
  /** The call as the model received it. Secrets in its settings are hidden. */
  readonly call: LanguageModelV4CallOptions;
}

export interface DroppedEvents {
  /** Ranges of `seq`, the first and the last of each. */
  readonly events: readonly PlaceRange[];
  /** `seq` of the compactions that left some of them out. */
  readonly compactions: readonly number[];
}

/**
 * Divides the prompt of a model call into sections: instructions, tools, facts, history and so on.
 * Each has its tokens, and its change since the last call of the same agent. The sections together
 * are the call that the model received.
 * @param seq of the `model_start` of the call
 * @throws PromptNotFoundError, InvalidOptionError
 */
export function inspectPrompt(
  source: AnySession | readonly Event[],
  seq: number,
): PromptInspection {
  const { events, resolve } = sourceOf('inspectPrompt', source);
  const traced = trace(events, seq, resolve);
  const { start } = traced.rebuilt;
  const own = events.filter(
    (event) => event.seq < seq && event.invocationId === start.invocationId,
  );
  const gauge = new TokenGauge(own);
  const divide = ({ rebuilt: { call }, kinds }: Traced): readonly PromptSection[] =>
    sectionsOf(call, kinds, (characters) => gauge.tokens(characters));
  const sections = divide(traced);
  const before = callBefore(events, start);
  const { invocationId, agent, model, round, attempt } = start;
  return {
    seq,
    ...{ invocationId, agent, model, round, attempt },
    tokens: tokensOf(sections),
    sections,
    ...defined({
      reported: reportedOf(events, start),
      dropped: droppedFrom(events, traced),
      previous:
        before === undefined
          ? undefined
          : { seq: before, diff: diffPrompts(divide(trace(events, before, resolve)), sections) },
    }),
    call: promptOfSections(sections),
  };
}

interface Traced {
  readonly rebuilt: RebuiltCall;
  readonly trace: PromptTrace;
  /** Visible events that renderers left out or replaced. */
  readonly unread: readonly Event[];
  readonly kinds: ReturnType<PromptTrace['kindsOf']>;
}

function trace(
  events: readonly Event[],
  seq: number,
  resolve: (value: unknown) => unknown,
): Traced {
  const made = new PromptTrace();
  const rebuilt = rebuildCall(events, seq, resolve, made);
  const { call, histories, segments } = rebuilt;
  // A recipe with a history has all of it; otherwise renderers have chosen single events.
  const unread = segments.some((segment) => 'history' in segment)
    ? []
    : histories
        .of('ancestors')
        .events()
        .filter((event) => !made.has(event));
  const texts = unread.flatMap((event) =>
    event.type === 'user' ? [String(resolve(event.text))] : [],
  );
  return { rebuilt, trace: made, unread, kinds: made.kindsOf(call.prompt, texts) };
}

/** Returns the last call of the invocation before this one, or else of the agent. */
function callBefore(
  events: readonly Event[],
  { seq, agent, invocationId }: EventOf<'model_start'>,
): number | undefined {
  let last: number | undefined;
  for (let place = seq - 1; place > 0; place--) {
    const event = events[place - 1];
    if (event?.type !== 'model_start' || event.agent !== agent) continue;
    if (event.invocationId === invocationId) return event.seq;
    last ??= event.seq;
  }
  return last;
}

function reportedOf(
  events: readonly Event[],
  { seq, invocationId }: EventOf<'model_start'>,
): number | undefined {
  for (let place = seq + 1; place <= events.length; place++) {
    const event = events[place - 1];
    if (!(event?.type === 'model_end' || event?.type === 'model_start')) continue;
    if (event.invocationId !== invocationId) continue;
    if (event.type === 'model_start' || event.status !== 'completed') return undefined;
    const { estimated, substitutedBy, usage } = event;
    return estimated === true || substitutedBy !== undefined ? undefined : usage.inputTokens;
  }
  return undefined;
}

/** Returns the events that the agent saw once, or could have seen, and that its prompt has not. */
function droppedFrom(
  events: readonly Event[],
  { rebuilt, trace: made, unread }: Traced,
): DroppedEvents | undefined {
  const { histories } = rebuilt;
  const isOwn = (event: Event) => histories.of('ancestors').isNative(event);
  const prefix = events.slice(0, histories.lastSeq);
  const compacted = prefix.filter(
    (event): event is EventOf<'compaction'> => event.type === 'compaction' && isOwn(event),
  );
  const byId = new Map(compacted.length === 0 ? [] : prefix.map((event) => [event.id, event]));
  const seqs = new Set(unread.filter(({ type }) => type !== 'user').map(({ seq }) => seq));
  const compactions: number[] = [];
  for (const event of compacted) {
    const left = event.covers.map((id) => byId.get(id)).filter((covered) => covered !== undefined);
    const gone = left.filter((covered) => !made.has(covered));
    for (const { seq } of gone) seqs.add(seq);
    if (gone.length > 0) compactions.push(event.seq);
  }
  return seqs.size === 0 ? undefined : { events: rangesOf([...seqs]), compactions };
}
