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

/** A request that asks for an answer, between the activity and the composer. */
export interface Card {
  readonly title: Line;
  /** Lines that scroll. */
  readonly body: readonly Line[];
  /** Number of the first line that is shown. */
  readonly top: number;
  /** The keys. They say how many lines of the body stand below those that are shown. */
  readonly keys: (unseen: number) => Line;
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
