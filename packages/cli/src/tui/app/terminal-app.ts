import type { Event, StreamEvent } from 'adjutant';
import { describeFailure } from '../../failure.ts';
import { requestCard } from '../card/request-card.ts';
import { RequestFocus } from '../card/request-focus.ts';
import { asTyped, readEntry } from '../editor/commands.ts';
import type { Input } from '../editor/keys.ts';
import type { Block, Note } from '../feed/block.ts';
import { Feed } from '../feed/feed.ts';
import { blockLines } from '../screens/block-lines.ts';
import { contentWidth, lineSpans, type Space, toned } from '../screens/layout.ts';
import type { LiveView } from '../screens/live-view.ts';
import type { Conversation } from '../session/conversation.ts';
import { cutOffNote, lastTurns } from '../session/reopened.ts';
import { StoredMessages } from '../session/stored-messages.ts';
import { WorkStop } from '../session/work-stop.ts';
import type { Workplace } from '../session/workplace.ts';
import { commandNow, slashCommands } from '../slash/commands.ts';
import type { Line } from '../text/spans.ts';
import { CompletionFocus } from './completion.ts';
import { Composer } from './composer.ts';
import type { AppControl, Choice, ListOfChoices, Printed } from './control.ts';
import { firstWords, headerLines } from './header.ts';
import { HistorySearch } from './history-search.ts';
import { KeptTexts } from './kept-texts.ts';
import { ListFocus } from './list-focus.ts';
import { statusOf } from './status.ts';
import type { TerminalAppParts } from './terminal-app-parts.ts';
import { WorkSignals } from './work-signals.ts';

type Key = Extract<Input, { kind: 'key' }>;

/** Milliseconds within which a second Ctrl-C leaves. */
const leaveWithin = 2_000;
const stopsHere = ' The run stops here and can go on later.';

/** The state of the terminal app: what is printed, what is live, and what keys mean. */
export class TerminalApp implements AppControl {
  readonly printed: Printed[] = [];
  readonly #parts: TerminalAppParts;
  readonly #composer = new Composer();
  readonly #listeners = new Set<() => void>();
  #workplace: Workplace | undefined;
  #conversation: Conversation | undefined;
  #feed = new Feed();
  #events: Event[] = [];
  readonly #stored = new StoredMessages();
  readonly #stop = new WorkStop();
  #waitingInputs: Input[] = [];
  #notice: Line | undefined;
  #list: ListOfChoices | undefined;
  readonly #texts: KeptTexts;
  readonly #signals: WorkSignals;
  readonly #completion = new CompletionFocus(this.#composer, slashCommands);
  readonly #request: RequestFocus;
  #interruptedAt = Number.NEGATIVE_INFINITY;
  #version = 0;

  constructor(parts: TerminalAppParts) {
    this.#parts = parts;
    this.#request = new RequestFocus({
      ...{ now: parts.now, columns: () => parts.screen().columns },
      requests: () => this.#feed.requests,
      isFree: () => this.#composer.isEmpty && this.#list === undefined,
      answer: ({ requestId }, given) => this.conversation.answer(requestId, given),
      failed: (error) => this.#fail(error),
      changed: () => this.#changed(),
    });
    this.#signals = new WorkSignals(parts.modes, parts.now);
    this.#texts = new KeptTexts({
      clock: parts.clock,
      composer: this.#composer,
      onProblem: (text) => this.note({ sign: 'attention', tone: 'attention', text }),
    });
  }

  get workplace(): Workplace {
    if (this.#workplace === undefined) throw new Error('The app is not loaded yet.');
    return this.#workplace;
  }
  get conversation(): Conversation {
    if (this.#conversation === undefined) throw new Error('No session is open yet.');
    return this.#conversation;
  }
  get feed(): Feed {
    return this.#feed;
  }
  get events(): readonly Event[] {
    return this.#events;
  }
  /** Grows with each change. */
  get version(): number {
    return this.#version;
  }
  get isWorking(): boolean {
    return this.#conversation?.isWorking === true || this.#feed.runState === 'working';
  }
  /** True while time by itself changes what is shown. */
  get isMoving(): boolean {
    return this.isWorking || this.#feed.requests.some(({ expiresAt }) => expiresAt !== undefined);
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #changed(): void {
    this.#version++;
    for (const listener of this.#listeners) listener();
  }

  print(lines: (space: Space) => readonly Line[]): void {
    this.printed.push({ key: this.printed.length, lines });
    this.#changed();
  }

  note(note: Omit<Note, 'kind'>): void {
    const block: Block = { kind: 'note', ...note, turn: this.#feed.turn, gap: false };
    this.print((space) => blockLines(block, space));
  }

  #fail(error: unknown): void {
    this.note({ sign: 'failed', tone: 'failure', text: describeFailure(error) });
  }

  clearScreen(): void {
    this.#parts.clearScreen();
  }

  /** Begins to work, with a session that is open. */
  async begin(workplace: Workplace, sessionId: string | undefined): Promise<void> {
    this.#workplace = workplace;
    await this.#texts.open(workplace.texts);
    await this.openSession(sessionId);
    const waiting = this.#waitingInputs;
    this.#waitingInputs = [];
    for (const input of waiting) this.input(input);
  }

  async openSession(id?: string): Promise<void> {
    await this.#conversation?.stop();
    const conversation = await this.workplace.open(id);
    const events = await conversation.open();
    this.#conversation = conversation;
    this.#feed = new Feed();
    this.#events = [...events];
    this.#stored.clear();
    this.#stop.clear();
    const blocks = events.flatMap((event) => [...this.#feed.take(event)]);
    const holder =
      this.#feed.runState === 'working'
        ? await this.workplace.holder(conversation.session)
        : undefined;
    this.print((space) => headerLines(this.workplace, conversation.session, events, holder, space));
    if (blocks.length > 0) this.print((space) => lastTurns(blocks, space));
    if (this.#feed.runState === 'working' && holder === undefined) {
      this.#feed.cutOff();
      this.note(cutOffNote(events, this.#feed.model !== undefined));
    }
    conversation.listen(
      {
        event: (event) => this.#happened(event),
        failed: (error) => this.#fail(error),
        changed: () => this.#workChanged(),
      },
      this.#feed.lastSeq,
    );
    this.#request.look();
    if (await this.#texts.openDraft(events.length > 0 ? conversation.session : undefined))
      this.#say('Your draft is back. ^C clears it.');
    this.#changed();
  }

  /** Keeps the draft and ends the work of this process. Returns true when it worked. */
  async stop(): Promise<boolean> {
    await this.#texts.close();
    return this.conversation.stop();
  }

  #happened(event: StreamEvent): void {
    if ('seq' in event) {
      this.#events.push(event);
      if (this.#events.length === 1) this.#texts.begun(this.conversation.session);
      if (event.type === 'user') this.#stored.read(event.text ?? '');
      if (event.type === 'invocation_yield' || event.type === 'invocation_end') this.#stop.clear();
    }
    for (const block of this.#feed.take(event)) this.print((space) => blockLines(block, space));
    this.#request.look();
    this.#changed();
  }

  #workChanged(): void {
    this.#signals.tell({
      isWorking: this.#conversation?.isWorking === true,
      agent: this.#workplace?.agent.name ?? '',
      hasRequests: this.#feed.requests.length > 0,
    });
    this.#changed();
  }

  /** Takes what a person did at the keyboard. */
  input(input: Input): void {
    const notice = this.#notice;
    this.#notice = undefined;
    if (input.kind === 'key' && input.ctrl === true && input.key === 'c') this.#ctrlC();
    else if (this.#conversation === undefined) this.#whileLoading(input, notice);
    else if (this.#list !== undefined) this.#inList(this.#list, input);
    else if (!this.#request.isFocused || !this.#request.take(input)) this.#inComposer(input);
    this.#request.keyCame();
    this.#changed();
  }

  /** Keeps what is sent before the app is loaded. */
  #whileLoading(input: Input, notice: Line | undefined): void {
    this.#notice = notice;
    if (this.#waitingInputs.length > 0) {
      this.#waitingInputs.push(input);
      return;
    }
    if (this.#composer.take(input, this.#width).kind !== 'send' || this.#composer.isEmpty) return;
    this.#waitingInputs.push(input);
    this.#notice = [{ text: '  stored · sent when the app is loaded', dim: true }];
  }

  /** Messages that the model has not read. */
  get #messages(): readonly string[] {
    return [...this.#feed.unread, ...this.#stored.texts];
  }

  get #width(): number {
    return contentWidth(this.#parts.screen());
  }

  #ctrlC(): void {
    const { now } = this.#parts;
    const isSecond = now() - this.#interruptedAt <= leaveWithin;
    this.#interruptedAt = now();
    if (isSecond) {
      this.#composer.restore();
      this.leave();
      return;
    }
    if (this.#list !== undefined) {
      this.#list = undefined;
      return;
    }
    this.#request.leave();
    const { isWorking } = this;
    if (isWorking) this.#interrupt();
    else if (!this.#composer.isEmpty) this.#composer.clear();
    this.#say(`Press ^C again to leave.${isWorking ? stopsHere : ''}`);
  }

  #say(text: string, tone: Note['tone'] = 'plain'): void {
    this.#notice = [
      { text: '  ' },
      ...lineSpans(text, tone === 'plain' ? { dim: true } : toned(tone)),
    ];
  }

  #inList(list: ListOfChoices, input: Input): void {
    const taken = list.take(input);
    if (taken === undefined) return;
    this.#list = undefined;
    if (taken !== 'close') taken.take();
  }

  #inComposer(input: Input): void {
    if (input.kind === 'key' && this.#completion.take(input)) return;
    if (input.kind === 'key' && this.#appKey(input)) return;
    const outcome = this.#composer.take(input, this.#width);
    if (outcome.kind === 'edited') this.#completion.changedBy(input);
    if (outcome.kind === 'refused') this.#say(outcome.reason, 'failure');
    if (outcome.kind === 'send') this.#send();
  }

  /** Keys of the app itself. Returns true when the key was one. */
  #appKey({ key, ctrl }: Key): boolean {
    if (key === 'escape') {
      if (this.isWorking) this.#interrupt();
      return true;
    }
    if (ctrl === true && key === 'd' && this.#composer.isEmpty) {
      if (this.isWorking) this.#ctrlC();
      else this.leave();
      return true;
    }
    if (ctrl === true && key === 'r') {
      this.#list = new HistorySearch(this.#composer.former, (text) => this.compose(text));
      return true;
    }
    if (ctrl === true && key === 'l') {
      this.#parts.clearScreen();
      return true;
    }
    return key === 'tab' && this.#request.enter();
  }

  #send(): void {
    const entry = readEntry(this.#composer.editor);
    if (entry.kind === 'empty') {
      if (this.#canGoOn) this.conversation.resume();
      return;
    }
    if (entry.kind === 'command') {
      void this.#command(entry.name, entry.words);
      return;
    }
    this.#texts.sent(asTyped(entry.text));
    const { isWorking } = this;
    const sending = this.conversation.say(entry.text);
    void (isWorking ? this.#stored.add(entry.text, sending) : sending)
      .then(() => this.#changed())
      .catch((error: unknown) => this.#fail(error));
  }

  get #canGoOn(): boolean {
    const { runState, requests } = this.#feed;
    return (
      !this.isWorking &&
      (runState === 'paused' || (runState === 'waiting' && requests.length === 0))
    );
  }

  async #command(name: string, words: string): Promise<void> {
    const command = commandNow(name, this.isWorking, this.workplace.agent.name);
    if (typeof command === 'string') {
      // The text stays, to be mended.
      this.#say(command, 'failure');
      return;
    }
    this.#texts.sent(`/${name}${words === '' ? '' : ` ${words}`}`);
    this.#changed();
    try {
      await command.run(this, words);
    } catch (error) {
      this.#fail(error);
    }
    this.#changed();
  }

  #interrupt(): void {
    const running = this.#feed.calls.filter(({ state }) => state === 'running').length;
    if (running > 0 && !this.#stop.isAsked) {
      const calls = running === 1 ? 'a call' : `${running} calls`;
      this.#say(`Stops after ${calls} · Esc again cancels`);
    }
    const hasMessages = this.#messages.length > 0;
    void this.#stop
      .ask({ conversation: this.conversation, hasMessages, running })
      .catch((error: unknown) => this.#fail(error));
  }

  choose(title: string, choices: readonly Choice[], keys?: string): void {
    this.#list = new ListFocus(title, choices, keys);
    this.#changed();
  }

  compose(text: string): void {
    this.#composer.set(text);
    this.#changed();
  }

  leave(): void {
    this.#parts.onLeave();
  }

  /** Content of the live region. */
  view(): LiveView {
    const { model, openText, hasOpenGap, calls, children } = this.#feed;
    const now = this.#parts.now();
    const name = this.#workplace?.agent.name ?? 'the agent';
    return {
      ...{ model, openText, hasOpenGap, calls, children, now },
      stored: this.#messages,
      state: this.#state,
      notice: this.#notice ?? (this.#conversation ? undefined : [{ text: firstWords() }]),
      popup: this.#list?.popup ?? this.#completion.popup,
      card:
        this.#list === undefined
          ? requestCard(this.#request, now, this.#parts.screen())
          : undefined,
      editor: this.#composer.editor,
      placeholder: `Ask ${name} something`,
      isComposing: this.#list === undefined && !this.#request.isFocused,
      status: statusOf(this.#workplace, this.#conversation, this.#feed, this.isWorking),
      tick: this.#parts.moves ? Math.floor(now / 100) : undefined,
    };
  }

  get #state(): LiveView['state'] {
    if (this.#conversation === undefined) return 'loading';
    if (this.#stop.isAsked && this.isWorking) return 'stopping';
    return this.isWorking ? 'working' : this.#feed.runState;
  }
}
