import type { EventOf } from '../ledger/event.ts';
import type { HistoryScope } from '../ledger/prompt-recipe.ts';
import { injectMessage } from '../runnables/prompt-text.ts';
import type {
  PromptEvent,
  PromptText,
  RenderContext,
  Renderer,
  RenderState,
  ToolChoice,
} from '../runnables/render-context.ts';
import { charactersPerToken } from './token-gauge.ts';

/**
 * Adds a system message to the prompt. It is not in the ledger. A function is called for each
 * prompt. It may return a promise: the text is then recorded with the call, and a replay uses the
 * recorded one.
 * @throws PromptTextError when the prompt is made and the function gives no text
 */
export function injectSystemMessage(text: PromptText): Renderer {
  return injectMessage('system', text);
}

/** Adds a message with the role of the user to the prompt, otherwise as `injectSystemMessage`. */
export function injectUserMessage(text: PromptText): Renderer {
  return injectMessage('user', text);
}

const historyRenderers = new WeakSet<Renderer>();

/**
 * Adds the events of the ledger that the agent sees. `ancestors`: its own, those of the invocations
 * above it, and earlier ones in the same line. `own`: only those of this invocation; `all`: every
 * event; `none`: no event.
 */
export function includeHistory(
  options: { /** @default 'ancestors' */ readonly scope?: HistoryScope } = {},
): Renderer {
  const scope = options.scope ?? 'ancestors';
  const renderer: Renderer = (context) =>
    scope === 'none' ? context : context.includeHistory(scope);
  historyRenderers.add(renderer);
  return renderer;
}

/** True for renderers that `includeHistory` made, of whatever scope. */
export function isHistoryRenderer(renderer: Renderer): boolean {
  return historyRenderers.has(renderer);
}

function mapUserMessages(context: RenderContext, change: (text: string) => string): RenderContext {
  return context.withEvents(
    context.events.map((event): PromptEvent => {
      if (event.type === 'user')
        return { type: 'rewritten', event: event as EventOf<'user'>, text: change(event.text) };
      // A rewritten event may also come from the message that started an invocation: it is not the
      // user's.
      return event.type === 'rewritten' && event.event.type === 'user'
        ? { ...event, text: change(event.text) }
        : event;
    }),
  );
}

/** Changes the text of each message of the user, for the prompt only. */
export function wrapUserMessages(wrap: (message: string) => string): Renderer {
  return (context) => mapUserMessages(context, wrap);
}

/**
 * Enriches each message of the user with knowledge of the agent, for the prompt only. With
 * `targetAgent`, only prompts of that agent change.
 */
export function enrichUserMessages(
  enrich: (context: RenderState & { readonly message: string }) => string,
  options: { readonly targetAgent?: string } = {},
): Renderer {
  return (context) => {
    if (options.targetAgent !== undefined && options.targetAgent !== context.agent) return context;
    const { agent, invocationId, round, startedAt, state, usage } = context;
    return mapUserMessages(context, (message) =>
      enrich({ agent, invocationId, round, startedAt, state, usage, message }),
    );
  };
}

/**
 * Keeps injected messages, facts, and the last `count` other events. A call is never separated from
 * its result: the cut moves back to keep them together.
 */
export function selectRecentEvents(count: number): Renderer {
  return (context) => {
    const { events } = context;
    const recorded = events.filter(isSelectable);
    if (recorded.length <= count) return context;
    let first = recorded.length - count;
    while (first > 0 && belongsToRoundBefore(recorded, first)) first--;
    const kept = new Set(recorded.slice(first));
    return context.withEvents(events.filter((event) => !isSelectable(event) || kept.has(event)));
  };
}

/**
 * Keeps injected messages, facts, and as many of the last other events as fit into `count` tokens.
 * A token counts as four characters. Rounds stay whole, and at least the last one stays.
 */
export function selectRecentTokens(count: number): Renderer {
  return (context) => {
    const { events } = context;
    const recorded = events.filter(isSelectable);
    let room = count * charactersPerToken;
    let first = recorded.length;
    for (let i = recorded.length - 1; i >= 0; i--) {
      room -= context.charactersOf(recorded[i] as PromptEvent);
      if (room < 0 && first < recorded.length) break;
      if (!belongsToRoundBefore(recorded, i)) first = i;
    }
    if (first === 0) return context;
    const kept = new Set(recorded.slice(first));
    return context.withEvents(events.filter((event) => !isSelectable(event) || kept.has(event)));
  };
}

/** True when an event may be left out because it is old. */
function isSelectable(event: PromptEvent): boolean {
  return event.type !== 'synthetic' && event.type !== 'memory';
}

/**
 * True when a cut before `index` would separate events of one round. These are the answer of a
 * model, its calls and their results.
 */
function belongsToRoundBefore(events: readonly PromptEvent[], index: number): boolean {
  const event = events[index];
  if (event?.type === 'tool_result') return event.late !== true || roundIsOpen(events, index);
  const before = events[index - 1];
  if (event?.type === 'tool_call' || event?.type === 'assistant') {
    return (
      before !== undefined &&
      'round' in before &&
      before.round === event.round &&
      before.invocationId === event.invocationId
    );
  }
  return event?.type === 'user' && roundIsOpen(events, index);
}

function roundIsOpen(events: readonly PromptEvent[], index: number): boolean {
  const settledLater = new Set<string>();
  for (const event of events.slice(index))
    if (event.type === 'tool_result' && event.late !== true) settledLater.add(event.callId);
  return events
    .slice(0, index)
    .some((event) => event.type === 'tool_call' && settledLater.has(event.callId));
}

/** Leaves the model's own reasoning out of the prompt. */
export function pruneReasoning(): Renderer {
  return (context) =>
    context.withEvents(context.events.filter((event) => event.type !== 'thought'));
}

/** Limits the tools that the model is offered to these names. */
export function limitTools(names: readonly string[]): Renderer {
  const allowed = new Set(names);
  return (context) => context.withTools(context.tools.filter((name) => allowed.has(name)));
}

/** Sets whether the model may, must or must not call tools. */
export function setToolChoice(choice: ToolChoice): Renderer {
  return (context) => context.withToolChoice(choice);
}
