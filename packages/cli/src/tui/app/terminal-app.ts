import type { Event, StreamEvent } from 'adjutant';
import { RequestFocus } from '../card/request-focus.ts';
import { asTyped, readEntry } from '../editor/commands.ts';
import type { Input } from '../editor/keys.ts';
import type { Note } from '../feed/block.ts';
import { Feed } from '../feed/feed.ts';
import { blockLines } from '../screens/block-lines.ts';
import { contentWidth, lineSpans, toned } from '../screens/layout.ts';
import type { LiveView } from '../screens/live-view.ts';
import type { Conversation } from '../session/conversation.ts';
import { OpenSession } from '../session/open-session.ts';
import { cutOffNote, lastTurns } from '../session/reopened.ts';
import { leavingWords, type Workplace } from '../session/workplace.ts';
import { asksAboutAnswer } from '../slash/bare-answer.ts';
import { commandNow, openCommandPalette, slashCommands } from '../slash/commands.ts';
import type { Line } from '../text/spans.ts';
import { type KeyedApp, takeAppKey } from './app-keys.ts';
import { CompletionFocus } from './completion.ts';
import { Composer } from './composer.ts';
import type { AppControl, Choice, FullView, ListOfChoices, ListOptions } from './control.ts';
import { headerLines } from './header.ts';
import { HistorySearch } from './history-search.ts';
import { KeptTexts } from './kept-texts.ts';
import { ListFocus } from './list-focus.ts';
import { liveContent } from './live-content.ts';
import { LoadingInputs } from './loading-inputs.ts';
import type { EditedText } from './outer-editor.ts';
import { Printing } from './printing.ts';
import type { TerminalAppParts } from './terminal-app-parts.ts';
import { Twice } from './twice.ts';
import { WorkSignals } from './work-signals.ts';

/** Milliseconds within which a second Ctrl-C leaves. */
const leaveWithin = 2_000;
/** Milliseconds within which a second Esc shows the messages that one can go back to. */
const goBackWithin = 600;

function isControl(input: Input, letter: string): boolean {
  return input.kind === 'key' && input.ctrl === true && input.key === letter;
}

const noViews = {
  sign: 'failed',
  tone: 'failure',
  text: 'Views of the whole screen are not said line by line. /show and /explain are.',
} as const;

/** The state of the terminal app: what is printed, what is live, and what keys mean. */
export class TerminalApp extends Printing implements AppControl, KeyedApp {
  readonly #parts: TerminalAppParts;
  readonly now: TerminalAppParts['now'];
  readonly log: TerminalAppParts['log'];
  readonly #composer = new Composer();
  #workplace: Workplace | undefined;
  #session: OpenSession | undefined;
  /** The feed before a session is open: an empty one. */
  readonly #noFeed = new Feed();
  #full: FullView | undefined;
  readonly #loading = new LoadingInputs(this.#composer);
  #notice: Line | undefined;
  #list: ListOfChoices | undefined;
  readonly #texts: KeptTexts;
  readonly #signals: WorkSignals;
  readonly #completion = new CompletionFocus(this.#composer, slashCommands);
  readonly #request: RequestFocus;
  readonly #interrupted: Twice;
  readonly #escaped: Twice;

  constructor(parts: TerminalAppParts) {
    super();
    this.#parts = parts;
    this.now = parts.now;
    this.log = parts.log;
    this.#interrupted = new Twice(leaveWithin, parts.now);
    this.#escaped = new Twice(goBackWithin, parts.now);
    this.#request = new RequestFocus({
      ...{ now: parts.now, columns: () => parts.screen().columns },
      ...{ feed: () => this.feed, changed: () => this.changed() },
      isFree: () => this.#composer.isEmpty && this.#list === undefined && this.#full === undefined,
      answer: ({ requestId }, given) => this.conversation.answer(requestId, given),
      failed: (text) => this.note({ sign: 'failed', tone: 'failure', text }),
      edit: (text, take) => this.#edit({ text, file: 'answer.json' }, take),
      choose: (title, choices) => this.choose(title, choices),
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
  get isLoaded(): boolean {
    return this.#session !== undefined;
  }
  get session(): OpenSession {
    if (this.#session === undefined) throw new Error('No session is open yet.');
    return this.#session;
  }
  get conversation(): Conversation {
    return this.session.conversation;
  }
  get feed(): Feed {
    return this.#session?.feed ?? this.#noFeed;
  }
  get events(): readonly Event[] {
    return this.#session?.events ?? [];
  }
  /** The view that has the whole screen. */
  get full(): FullView | undefined {
    return this.#full;
  }
  get hasText(): boolean {
    return !this.#composer.isEmpty;
  }
  get isAtLineEnd(): boolean {
    return this.#composer.isAtLineEnd;
  }
  get isWorking(): boolean {
    return this.#session?.isWorking === true;
  }
  /** True while time by itself changes what is shown. */
  get isMoving(): boolean {
    return this.isWorking || this.feed.requests.some(({ expiresAt }) => expiresAt !== undefined);
  }

  protected get turn(): number {
    return this.feed.turn;
  }

  copy(text: string): void {
    this.#parts.copy(text);
  }

  clearScreen(): void {
    this.#parts.clearScreen();
  }

  /** Begins to work, with a session that is open. */
  async begin(workplace: Workplace, sessionId: string | undefined): Promise<void> {
    this.#workplace = workplace;
    await this.#texts.open(workplace.texts);
    await this.openSession(sessionId);
    for (const input of this.#loading.release()) this.input(input);
  }

  async openSession(named?: string): Promise<void> {
    await this.#session?.conversation.stop();
    const conversation = await this.workplace.open(named);
    const events = await conversation.open();
    const session = new OpenSession(conversation);
    this.#session = session;
    const blocks = events.flatMap((event) => [...session.take(event)]);
    const { feed } = session;
    const id = conversation.session;
    const isWorking = feed.runState === 'working';
    const holder = isWorking && id !== undefined ? await this.workplace.holder(id) : undefined;
    this.print((space) => headerLines(this.workplace, id, events, holder, space));
    if (blocks.length > 0) this.print((space) => lastTurns(blocks, space));
    if (isWorking && holder === undefined) {
      this.note(cutOffNote(events, feed.model !== undefined, this.#parts.now()));
      feed.cutOff();
    }
    conversation.listen(
      {
        event: (event) => this.#happened(session, event),
        failed: (error) => this.fail(error),
        changed: () => this.#workChanged(),
      },
      feed.lastSeq,
    );
    this.#request.look();
    if (await this.#texts.openDraft(events.length > 0 ? id : undefined))
      this.#say('Your draft is back. ^C clears it.');
    this.changed();
  }

  /** Reads the ledger again, after this process was stopped for a while. */
  async comeBack(): Promise<void> {
    try {
      if (!(await this.#session?.conversation.comeBack())) return;
      const text = 'Another process goes on with this run; shown from here.';
      this.note({ sign: 'note', tone: 'plain', text });
    } catch (error) {
      this.fail(error);
    }
  }

  /** Keeps the draft and ends the work of this process. Returns true when a run was open. */
  async stop(): Promise<boolean> {
    if (!this.isLoaded) return false;
    await this.#texts.close();
    return this.conversation.stop();
  }

  #happened(session: OpenSession, event: StreamEvent): void {
    const blocks = session.take(event);
    const { session: id } = session.conversation;
    if ('seq' in event && session.events.length === 1 && id !== undefined) this.#texts.begun(id);
    for (const block of blocks) this.print((space) => blockLines(block, space));
    this.#request.look();
    this.changed();
  }

  #workChanged(): void {
    this.#signals.tell({
      isWorking: this.#session?.conversation.isWorking === true,
      agent: this.#workplace?.agent.name ?? '',
      hasRequests: this.feed.requests.length > 0,
    });
    this.changed();
  }

  /** Takes what a person did at the keyboard. */
  input(input: Input): void {
    const notice = this.#notice;
    this.#notice = undefined;
    if (!isControl(input, 'c')) this.#interrupted.forget();
    if (input.kind !== 'key' || input.key !== 'escape') this.#escaped.forget();
    if (isControl(input, 'c')) this.askToLeave();
    else if (isControl(input, 'z')) this.#parts.onSuspend();
    else if (this.#full !== undefined) this.#inFull(this.#full, input);
    else if (this.#list !== undefined) this.#inList(this.#list, input);
    else if (this.#session === undefined) this.#whileLoading(input, notice);
    else if (!this.#request.isFocused || !this.#request.take(input)) this.#inComposer(input);
    this.#request.keyCame();
    this.changed();
  }

  #whileLoading(input: Input, notice: Line | undefined): void {
    const isSent = this.#loading.take(input, this.#width);
    this.#notice = isSent
      ? [{ text: '  stored · sent when the app is loaded', dim: true }]
      : notice;
  }

  get #width(): number {
    return contentWidth(this.#parts.screen());
  }

  /** Interrupts, clears or closes what is open. Asked twice, it leaves. */
  askToLeave(): void {
    if (this.#interrupted.happens()) {
      this.#composer.restore();
      this.leave();
      return;
    }
    if (this.#full !== undefined || this.#list !== undefined) {
      this.#full = undefined;
      this.#list = undefined;
      return;
    }
    this.#request.leave();
    const { isWorking } = this;
    const fate = this.#workplace?.onLeave ?? 'stops';
    if (isWorking && fate === 'stops') this.interrupt();
    else if (!isWorking && this.hasText) this.#composer.clear();
    this.#say(`Press ^C again to leave.${isWorking ? leavingWords[fate] : ''}`);
  }

  #say(text: string, tone: Note['tone'] = 'plain'): void {
    const style = tone === 'plain' ? { dim: true } : toned(tone);
    this.#notice = [{ text: '  ' }, ...lineSpans(text, style)];
  }

  #inList(list: ListOfChoices, input: Input): void {
    const taken = list.take(input);
    if (taken === undefined) return;
    this.#list = undefined;
    if (taken !== 'close') taken.take();
  }

  #inComposer(input: Input): void {
    if (input.kind === 'key' && this.#completion.take(input)) return;
    if (input.kind === 'key' && takeAppKey(this, input)) return;
    const outcome = this.#composer.take(input, this.#width);
    if (outcome.kind === 'edited') this.#completion.changedBy(input);
    if (outcome.kind === 'refused') this.#say(outcome.reason, 'failure');
    if (outcome.kind === 'send') this.#send();
  }

  #inFull(full: FullView, input: Input): void {
    if (full.take(input)) this.#full = undefined;
  }

  enterRequest(): boolean {
    return this.#request.enter();
  }

  /** Twice within a moment, and without a text, it shows the messages that one can go back to. */
  escapedIdly(): void {
    if (this.#escaped.happens() && !this.hasText) void this.command('back', '');
  }

  openPalette(): void {
    void openCommandPalette(this).catch((error: unknown) => this.fail(error));
  }

  editText(): void {
    const edited: EditedText = { text: this.#composer.text, file: 'message.md' };
    this.#edit(edited, (text) => this.compose(text));
  }

  /** Opens a text in the editor of the person; a text that was not saved is as it was. */
  #edit(edited: EditedText, take: (text: string) => void): void {
    void this.#parts
      .edit(edited)
      .then(take)
      .catch((error: unknown) => this.fail(error));
  }

  searchHistory(): void {
    this.#list = new HistorySearch(this.#composer.former, (text) => this.compose(text));
  }

  #send(): void {
    const entry = readEntry(this.#composer.editor);
    if (entry.kind === 'empty') {
      if (this.session.canGoOn) this.conversation.resume();
      return;
    }
    if (entry.kind === 'command') {
      void this.command(entry.name, entry.words);
      return;
    }
    this.#texts.sent(asTyped(entry.text));
    if (!asksAboutAnswer(this, entry.text, () => this.say(entry.text))) this.say(entry.text);
  }

  /** Gives a message to the agent. One that is refused comes back, to be sent again. */
  say(text: string): void {
    const sending = this.session.say(text).then(() => this.changed());
    void sending.catch((error: unknown) => {
      this.fail(error);
      if (!this.hasText) this.compose(text);
    });
  }

  async command(name: string, words: string): Promise<void> {
    const command = commandNow(name, this.isWorking, this.workplace.agent.name);
    if (typeof command === 'string') {
      // The text stays, to be mended.
      this.#say(command, 'failure');
      return;
    }
    this.#texts.sent(`/${name}${words === '' ? '' : ` ${words}`}`);
    this.changed();
    try {
      await command.run(this, words);
    } catch (error) {
      this.fail(error);
    }
    this.changed();
  }

  interrupt(): void {
    void this.session
      .interrupt((words) => this.#notice === undefined && this.#say(words))
      .then(() => this.changed())
      .catch((error: unknown) => this.fail(error));
  }

  look(view: FullView): void {
    if (this.#parts.hasViews) this.#full = view;
    else this.note(noViews);
    this.changed();
  }

  choose(title: string, choices: readonly Choice[], options?: ListOptions): void {
    this.#list = new ListFocus(title, choices, options);
    this.changed();
  }

  compose(text: string): void {
    this.#composer.set(text);
    this.changed();
  }

  leave(): void {
    this.#full = undefined;
    this.#parts.onLeave();
  }

  /** Content of the live region. */
  view(): LiveView {
    const screen = this.#parts.screen();
    return liveContent({
      ...{ workplace: this.#workplace, session: this.#session, feed: this.feed, screen },
      ...{ composer: this.#composer, request: this.#request, notice: this.#notice },
      list: this.#list?.popup(screen),
      completions: this.#completion.popup,
      now: this.#parts.now(),
      moves: this.#parts.moves,
    });
  }
}
