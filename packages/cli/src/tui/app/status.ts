import { modelOf } from '../../app/agents.ts';
import { formatTokens } from '../../output/format.ts';
import { costText } from '../feed/amounts.ts';
import type { Feed } from '../feed/feed.ts';
import type { StatusView } from '../screens/live-view.ts';
import type { Conversation } from '../session/conversation.ts';
import { endingOf, type Workplace } from '../session/workplace.ts';
import { visibleString } from '../text/visible.ts';

/** The facts of the last line of the screen. */
export function statusOf(
  workplace: Workplace | undefined,
  conversation: Conversation | undefined,
  feed: Feed,
  isWorking: boolean,
): StatusView {
  if (workplace === undefined || conversation === undefined)
    return { facts: ['loading'], hint: '^C^C leave' };
  const { totals, requests, runState } = feed;
  const model = modelOf(workplace.agent)?.replace(/^[^:]*:/, '');
  const waits =
    requests.length === 0 ? [] : [`${requests.length} ${requests.length === 1 ? 'waits' : 'wait'}`];
  const facts = [
    workplace.agent.name,
    ...(model === undefined ? [] : [model]),
    ...(totals.tokens === 0 ? [] : [`${formatTokens(totals.tokens)} tok`]),
    costText(totals),
    ...waits,
    ...(isWorking ? [] : [endingOf(conversation.session)]),
  ];
  const hint = isWorking
    ? 'Esc interrupts'
    : runState === 'paused'
      ? 'Enter goes on'
      : '/ commands';
  return { facts: facts.map((fact) => visibleString(fact, 'proseLine')), hint };
}
