import type { EventOf, JsonValue } from 'adjutant';
import { visibleJson } from 'adjutant/text';
import { describeFailure } from '../../failure.ts';
import { formatSize } from '../../output/format.ts';
import type { AppControl } from '../app/control.ts';
import { isKnown } from '../feed/known-events.ts';
import { ModelCalls } from '../prompt/model-calls.ts';
import { PromptView } from '../prompt/prompt-view.ts';
import { emptyGutter, fitted } from '../screens/layout.ts';
import { ScrubView } from '../scrub/scrub-view.ts';
import { endingOf } from '../session/workplace.ts';
import { forkAt, goBackBefore } from '../slash/fork.ts';
import { spansOf, splitLines } from '../text/spans.ts';
import { visible, visibleString } from '../text/visible.ts';
import { type TraceModeKey, TraceView } from '../trace/trace-view.ts';
import { Viewer, type ViewerPage } from '../viewer/viewer.ts';
import { StackedView, type ViewActs } from './stacked-view.ts';

export interface TraceStart {
  /** @default 'd' */
  readonly mode?: TraceModeKey;
  /** Number of the event that is marked. @default the last one */
  readonly seq?: number;
  /** True to begin a page above the end. @default false */
  readonly isPageUp?: boolean;
}

/** Outputs that the viewer goes through, from the newest one. */
const mostPages = 200;

/** Opens the trace of the open session. */
export function openTrace(app: AppControl, start: TraceStart = {}): void {
  new SessionViews(app).trace(start);
}

/** Opens the prompt of a model call. */
export function openPrompt(app: AppControl, start: EventOf<'model_start'>): void {
  new SessionViews(app).prompt(start);
}

/** Opens the state after an event. @param key shows only this key of it */
export function openState(app: AppControl, seq: number, key?: string): void {
  new SessionViews(app).state(app.session.index.placeOf(seq), key);
}

/** Opens the requests that wait, and the outputs of calls, from the newest one. */
export function openOutput(app: AppControl): void {
  const pages = [...requestPages(app), ...outputPages(app)];
  if (pages.length > 0) new SessionViews(app).viewer(pages);
  else app.note({ sign: 'note', tone: 'plain', text: 'There is no output yet.' });
}

function requestPages({ feed }: AppControl): ViewerPage[] {
  return feed.requests.map(({ seq, kind, name, args, details }) => ({
    title: `#${seq} ${kind} · ${name}`,
    text: () => `${details.summary}\n\n${visibleJson(args, 2)}`,
  }));
}

function outputPages(app: AppControl): ViewerPage[] {
  const { events } = app;
  const pages: ViewerPage[] = [];
  for (let at = events.length - 1; at >= 0 && pages.length < mostPages; at--) {
    const event = events[at];
    if (event?.type === 'tool_result' && event.settled) pages.push(resultPage(app, event));
  }
  return pages;
}

function resultPage(app: AppControl, event: EventOf<'tool_result'>): ViewerPage {
  const { seq, name, result } = event;
  const size = formatSize(Buffer.byteLength(textOf(result.content)));
  const outcome = result.errorType ?? result.status;
  return {
    title: `#${seq} tool_result · ${name} · ${outcome} · ${size}`,
    text: async () => {
      const whole = await app.conversation.whole(seq);
      return whole.type === 'tool_result' ? textOf(whole.result.content) : visibleJson(whole, 2);
    },
  };
}

function textOf(content: JsonValue): string {
  return typeof content === 'string' ? content : visibleJson(content, 2);
}

/** The views of the open session, on top of each other. */
class SessionViews {
  readonly #app: AppControl;
  readonly #stack: StackedView;

  constructor(app: AppControl) {
    this.#app = app;
    this.#stack = new StackedView(() => {
      const { length } = app.feed.requests;
      return length === 0 ? '' : `${length} waits: q`;
    });
    app.look(this.#stack);
  }

  get #acts(): ViewActs {
    const app = this.#app;
    return {
      copy: (text) => app.copy(text),
      print: (title, text) => printText(app, title, text),
      changed: () => app.changed(),
    };
  }

  trace({ mode, seq, isPageUp }: TraceStart): void {
    const app = this.#app;
    const { log, conversation, workplace } = app;
    const { index } = app.session;
    const facts = [
      visibleString(workplace.agent.name, 'proseLine'),
      endingOf(conversation.session ?? ''),
    ];
    const at = (place: number): number => index.event(place).seq;
    this.#stack.push(
      new TraceView({
        ...{ index, log, facts },
        ...(mode === undefined ? {} : { mode }),
        ...(seq === undefined ? {} : { seq }),
        ...(isPageUp === undefined ? {} : { isPageUp }),
        now: () => app.now(),
        isLive: () => app.isWorking,
        grow: () => void app.session.index,
        acts: {
          open: (place) => this.viewer(this.#eventPages(place)),
          prompt: (place) => {
            const start = new ModelCalls(index).near(place);
            if (start !== undefined) this.prompt(start);
          },
          state: (place) => this.state(place),
          fork: (place) => this.#fork(() => forkAt(app, at(place))),
          copy: (place) => app.copy(visibleJson(index.event(place), 2)),
        },
      }),
    );
  }

  /** The whole of an event: for a call its result first. */
  #eventPages(place: number): ViewerPage[] {
    const app = this.#app;
    const event = app.session.index.event(place);
    const pages: ViewerPage[] = [];
    const end = app.session.index.endOf(place);
    if (end?.type === 'tool_result') pages.push(resultPage(app, end));
    if (isKnown(event) && event.type === 'tool_result') pages.push(resultPage(app, event));
    const text = async (): Promise<string> => {
      const whole: unknown = isKnown(event) ? await app.conversation.whole(event.seq) : event;
      return visibleJson(whole, 2);
    };
    return [...pages, { title: `#${event.seq} ${event.type}`, text }];
  }

  viewer(pages: readonly ViewerPage[]): void {
    this.#stack.push(new Viewer(pages, this.#acts));
  }

  prompt(start: EventOf<'model_start'>): void {
    const { conversation, session, workplace } = this.#app;
    const { index } = session;
    const windowOf = (name: string): number | undefined =>
      workplace.agents.find(({ model }) => model === name)?.contextWindow;
    const parts = {
      windowOf,
      calls: new ModelCalls(index),
      load: (seq: number) => conversation.prompt(seq),
      acts: this.#acts,
      open: (pages: readonly ViewerPage[]) => this.viewer(pages),
    };
    this.#stack.push(new PromptView(parts, start));
  }

  state(place: number, key?: string): void {
    const app = this.#app;
    const { conversation, workplace } = app;
    const { index } = app.session;
    this.#stack.push(
      new ScrubView(
        {
          ...{ index, agents: workplace.agents, acts: this.#acts },
          ...(key === undefined ? {} : { key }),
          now: () => app.now(),
          stateAt: (seq) => conversation.stateAt(seq),
          grow: () => void app.session.index,
          fork: (seq) => this.#fork(() => forkAt(app, seq)),
          change: (seq, text) => this.#fork(() => goBackBefore(app, seq, text)),
        },
        place,
      ),
    );
  }

  /** Closes the views, and makes a fork. */
  #fork(make: () => Promise<void>): void {
    const app = this.#app;
    this.#stack.close();
    const failed = (text: string): void => app.note({ sign: 'failed', tone: 'failure', text });
    if (app.isWorking) {
      failed(`A fork has to wait: ${app.workplace.agent.name} works. Esc interrupts.`);
      return;
    }
    void make().catch((error: unknown) => failed(describeFailure(error)));
  }
}

function printText(app: AppControl, title: string, text: string): void {
  app.print((space) => [
    ...fitted([[{ text: visibleString(title, 'outputLine'), bold: true }]], space),
    ...fitted(
      splitLines(spansOf(visible(text, 'output').pieces)).map((line) => [emptyGutter, ...line]),
      space,
    ),
  ]);
}

/** The model calls of the open session. */
export function modelCallsOf(app: AppControl): ModelCalls {
  return new ModelCalls(app.session.index);
}
