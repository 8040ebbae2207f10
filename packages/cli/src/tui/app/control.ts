import type { Event } from 'adjutant';
import type { Input } from '../editor/keys.ts';
import type { Note } from '../feed/block.ts';
import type { Feed } from '../feed/feed.ts';
import type { LogBook } from '../log/log-book.ts';
import type { Space } from '../screens/layout.ts';
import type { Popup, Screen } from '../screens/live-view.ts';
import type { Conversation } from '../session/conversation.ts';
import type { OpenSession } from '../session/open-session.ts';
import type { Workplace } from '../session/workplace.ts';
import type { Line } from '../text/spans.ts';

/** A part of the scrollback: its lines are made once, for the width that the terminal has then. */
export interface Printed {
  readonly key: number;
  readonly lines: (space: Space) => readonly Line[];
}

/** A row of a list to choose from. */
export interface Choice {
  readonly line: Line | ((space: Space) => Line);
  /** Text that a filter looks through. */
  readonly text: string;
  readonly take: () => void;
  /** Shows what else can be done with it, for the key →. */
  readonly more?: () => void;
}

/** Abilities of a list beside choosing. */
export interface ListOptions {
  /** Line below the list. @default the keys of every list */
  readonly keys?: string;
  /** Fact at the right end of the title. */
  readonly fact?: string;
  /** Carries out Enter where nothing is found for the typed text. */
  readonly typed?: (text: string) => void;
  /** Called when the list is closed without a choice. */
  readonly onClose?: () => void;
  /** Carries out Tab: another list in its place. */
  readonly other?: () => void;
}

/** A list that has the keys until it is closed. */
export interface ListOfChoices {
  popup(space: Space): Popup;
  /** Takes a key. Returns the choice that it takes, or that the list is to be closed. */
  take(input: Input): Pick<Choice, 'take'> | 'close' | undefined;
}

/** A view that has the whole screen and all keys until it is closed. */
export interface FullView {
  /** Takes what a person did. Returns true when the view is to be closed. */
  take(input: Input): boolean;
  /** The lines of the screen, from its top, at most as many as it has rows. */
  lines(screen: Screen): readonly Line[];
}

/** The app, as commands see it. */
export interface AppControl {
  readonly workplace: Workplace;
  readonly conversation: Conversation;
  readonly feed: Feed;
  readonly events: readonly Event[];
  readonly session: OpenSession;
  /** The lines that are logged while the app has the terminal. */
  readonly log: LogBook;
  readonly isWorking: boolean;
  /** Returns epoch milliseconds. */
  readonly now: () => number;
  /** Prints lines into the scrollback. */
  print(lines: (space: Space) => readonly Line[]): void;
  /** Prints the error of something that could not be carried out. */
  fail(error: unknown): void;
  /** Prints a note, such as `✗ There is no session of this id.` */
  note(note: Omit<Note, 'kind'>): void;
  /** Opens a view of the whole screen. What is printed meanwhile is shown when it is closed. */
  look(view: FullView): void;
  /** Tells that something of what is shown has changed. */
  changed(): void;
  /** Lets a person choose. */
  choose(title: string, choices: readonly Choice[], options?: ListOptions): void;
  /** Carries out a command. */
  command(name: string, words: string): Promise<void>;
  /** Gives the keys to the open request. Returns false when there is none. */
  enterRequest(): boolean;
  /** Opens a session, by default a new one. Prints its header, and its last turns. */
  openSession(id?: string): Promise<void>;
  /** Puts a text into the composer. */
  compose(text: string): void;
  /** Gives a text to the clipboard of the terminal. Only for what a person asked to copy. */
  copy(text: string): void;
  clearScreen(): void;
  leave(): void;
}

/** A command of the composer. */
export interface SlashCommand {
  readonly name: string;
  /** Words that it takes, as they are shown: `[name]`. */
  readonly words: string;
  readonly summary: string;
  /** True when it has to wait until the agent has ended its work. @default false */
  readonly waitsForAgent?: boolean;
  run(app: AppControl, words: string): void | Promise<void>;
}
