import type { LanguageModelV4Message } from '@ai-sdk/provider';
import type { Host } from '../../base/host.ts';
import { visibleLine } from '../../base/text/visible-text.ts';
import type { Histories } from '../../context/prompt.ts';
import { isHistoryRenderer } from '../../context/renderers.ts';
import type { Agent } from '../../runnables/agent.ts';
import type { Renderer } from '../../runnables/render-context.ts';

const code = 'history_missing';

/** Agents that were reported, for each host. */
const reported = new WeakMap<Host, WeakSet<Agent>>();

/** Prompt that is about to be sent, and what it was made from. */
export interface SentPrompt {
  readonly messages: readonly LanguageModelV4Message[];
  readonly histories: Histories;
  readonly renderers: readonly Renderer[];
}

/**
 * Reports an agent whose prompt has nothing but system messages although there is a history: its
 * `context` has no `includeHistory()`, so that no message of the user is sent. It is reported once.
 *
 * The definition is not refused: a renderer of the agent's own, middleware or `beforeModel` may
 * bring the history, and an injected user message may hold the whole task. All that is known only
 * when a prompt is made. `includeHistory({ scope: 'none' })` says that it is meant.
 */
export function reportMissingHistory(agent: Agent, host: Host, prompt: SentPrompt): void {
  const { messages, histories, renderers } = prompt;
  if (renderers.some(isHistoryRenderer)) return;
  if (!messages.every(({ role }) => role === 'system')) return;
  if (histories.of('ancestors').events().length === 0) return;
  const agents = reported.get(host) ?? new WeakSet();
  reported.set(host, agents);
  if (agents.has(agent)) return;
  agents.add(agent);
  host.warn(visibleLine(textFor(agent, messages.length)), code);
}

function textFor({ name }: Agent, messages: number): string {
  const has = messages === 0 ? 'is empty' : 'has system messages only';
  return (
    `The prompt of the agent "${name}" ${has}, so the user's message is not sent to the model. ` +
    'Its `context` brings no history: add includeHistory() to the list, or give the text as ' +
    "`instructions` and leave `context` out. includeHistory({ scope: 'none' }) says that this " +
    'is meant.'
  );
}
