import type { Clock } from 'adjutant/ports';
import type { TerminalModes } from '../../host/terminal-modes.ts';
import type { LogBook } from '../log/log-book.ts';
import type { Screen } from '../screens/live-view.ts';
import type { EditedText } from './outer-editor.ts';

/** Surroundings of the terminal app. */
export interface TerminalAppParts {
  readonly modes: TerminalModes;
  /** Takes what is logged meanwhile. */
  readonly log: LogBook;
  readonly now: () => number;
  readonly clock: Clock;
  readonly screen: () => Screen;
  /** True when signs of work may move. */
  readonly moves: boolean;
  /** True when a view can have the whole screen. */
  readonly hasViews: boolean;
  /** Called when the app is to end. */
  readonly onLeave: () => void;
  /** Called when the terminal is to be given to the shell. */
  readonly onSuspend: () => void;
  /** Opens a text in the editor of the person, and returns the text that was saved. */
  readonly edit: (edited: EditedText) => Promise<string>;
  readonly clearScreen: () => void;
  readonly copy: (text: string) => void;
}
