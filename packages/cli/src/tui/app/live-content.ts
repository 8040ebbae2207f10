import { firstWords } from '../../host/first-words.ts';
import { requestCard } from '../card/request-card.ts';
import type { RequestFocus } from '../card/request-focus.ts';
import type { Feed } from '../feed/feed.ts';
import type { LiveView, Popup, Screen } from '../screens/live-view.ts';
import type { OpenSession } from '../session/open-session.ts';
import type { Workplace } from '../session/workplace.ts';
import type { Line } from '../text/spans.ts';
import type { Composer } from './composer.ts';
import { statusOf } from './status.ts';

/** The state of the app, as far as its live region shows it. */
export interface LiveState {
  readonly workplace: Workplace | undefined;
  /** `undefined`: the app is being loaded. */
  readonly session: OpenSession | undefined;
  readonly feed: Feed;
  readonly composer: Composer;
  readonly request: RequestFocus;
  /** List that has the keys. */
  readonly list: Popup | undefined;
  /** Commands that the text may become. */
  readonly completions: Popup | undefined;
  readonly notice: Line | undefined;
  readonly screen: Screen;
  /** Epoch milliseconds. */
  readonly now: number;
  /** True when signs of work may move. */
  readonly moves: boolean;
}

/** Content of the live region. */
export function liveContent(state: LiveState): LiveView {
  const { composer, feed, list, now, request, screen, session, workplace } = state;
  const { model, openText, hasOpenGap, calls, children } = feed;
  return {
    ...{ model, openText, hasOpenGap, calls, children, now },
    stored: session?.messages ?? [],
    state: stateOf(session),
    notice: state.notice ?? (session === undefined ? [{ text: firstWords() }] : undefined),
    popup: list ?? state.completions,
    card: list === undefined ? requestCard(request, now, screen) : undefined,
    editor: composer.editor,
    placeholder: `Ask ${workplace?.agent.name ?? 'the agent'} something`,
    isComposing: list === undefined && !request.isFocused,
    status: statusOf(workplace, session),
    tick: state.moves ? Math.floor(now / 100) : undefined,
  };
}

function stateOf(session: OpenSession | undefined): LiveView['state'] {
  if (session === undefined) return 'loading';
  if (session.isStopping) return 'stopping';
  return session.isWorking ? 'working' : session.feed.runState;
}
