import type { Editor } from '../editor/editor.ts';
import type { CallRecord } from '../feed/call-record.ts';
import type { ModelWork, RunState } from '../feed/feed.ts';
import type { ChildWork } from '../feed/places.ts';
import type { Line } from '../text/spans.ts';
import type { Space } from './layout.ts';

/** Size of the terminal and its signs. */
export interface Screen extends Space {
  readonly rows: number;
}

/** A list to choose from, in the place of the activity. */
export interface Popup {
  /** Line above the list: its title, or the filter. */
  readonly title?: Line;
  readonly rows: readonly Line[];
  /** Number of the marked row. */
  readonly marked: number;
  /** Line below the list, with its keys. */
  readonly keys?: string;
}

/** Part of the body of a card that is shown. */
export interface CardPart {
  /** Number of its first line. */
  readonly top: number;
  /** True when the last line of the body is in it. */
  readonly hasEnd: boolean;
}

/** A request that asks for an answer, between the activity and the composer. */
export interface Card {
  readonly title: Line;
  /** Lines that scroll. */
  readonly body: readonly Line[];
  /** Number of the first line that is shown. */
  readonly top: number;
  /** Number of a line that is shown in any case. */
  readonly marked?: number;
  /** The keys. They say how many lines at the end of the body were never shown. */
  readonly keys: (unseen: number) => Line;
  /** True when the end of the body was shown before. @default false */
  readonly wasSeen?: boolean;
  /** Called with the part of the body that is shown. */
  readonly onShown?: (part: CardPart) => void;
  /** Place of the cursor in the body, when it is in a field. */
  readonly cursor?: { readonly row: number; readonly column: number };
}

/** What the live region shows: only what may still change. */
export interface LiveView {
  readonly state: RunState | 'loading' | 'stopping';
  readonly model: ModelWork | undefined;
  readonly openText: string;
  /** True when an empty line stands before that text. */
  readonly hasOpenGap: boolean;
  readonly calls: readonly CallRecord[];
  readonly children: readonly ChildWork[];
  /** Messages that are stored and that no model has read. */
  readonly stored: readonly string[];
  readonly notice: Line | undefined;
  readonly popup: Popup | undefined;
  readonly card: Card | undefined;
  readonly editor: Editor;
  readonly placeholder: string;
  readonly isComposing: boolean;
  readonly status: StatusView;
  /** Epoch milliseconds. */
  readonly now: number;
  /** Ticks of the spinner. `undefined`: nothing moves. */
  readonly tick: number | undefined;
}

export interface StatusView {
  /** Facts at the left: the agent, the model, tokens and cost. */
  readonly facts: readonly string[];
  readonly hint: string;
}
