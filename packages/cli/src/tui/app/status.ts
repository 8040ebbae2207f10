import { formatTokens } from '../../output/format.ts';
import { costText } from '../feed/amounts.ts';
import type { StatusView } from '../screens/live-view.ts';
import type { OpenSession } from '../session/open-session.ts';
import { endingOf, type Workplace } from '../session/workplace.ts';
import { visibleString } from '../text/visible.ts';

/** The facts of the last line of the screen. */
export function statusOf(
  workplace: Workplace | undefined,
  open: OpenSession | undefined,
): StatusView {
  if (workplace === undefined || open === undefined)
    return { facts: ['loading'], hint: '^C^C leave' };
  const { isWorking, lastModel } = open;
  const { session } = open.conversation;
  const { totals, requests, runState } = open.feed;
  const model = (workplace.agent.model ?? lastModel)?.replace(/^[^:]*:/, '');
  const waits =
    requests.length === 0 ? [] : [`${requests.length} ${requests.length === 1 ? 'waits' : 'wait'}`];
  const facts = [
    workplace.agent.name,
    ...(model === undefined ? [] : [model]),
    ...(totals.tokens === 0 ? [] : [`${formatTokens(totals.tokens)} tok`]),
    costText(totals),
    ...waits,
    ...(isWorking || session === undefined ? [] : [endingOf(session)]),
  ];
  const hint = isWorking
    ? 'Esc interrupts'
    : runState === 'paused'
      ? 'Enter goes on'
      : '/ commands';
  return { facts: facts.map((fact) => visibleString(fact, 'proseLine')), hint };
}
