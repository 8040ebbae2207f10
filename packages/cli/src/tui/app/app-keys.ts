import type { Input } from '../editor/keys.ts';
import { openOutput, openTrace } from '../full-screen/session-views.ts';
import type { AppControl } from './control.ts';

type Key = Extract<Input, { kind: 'key' }>;

/** The app, as its keys see it. */
export interface KeyedApp extends AppControl {
  readonly hasText: boolean;
  interrupt(): void;
  /** Tells that Esc came while nothing was to be interrupted. */
  escapedIdly(): void;
  openPalette(): void;
  /** Asks once more before it leaves, because the agent works. */
  askToLeave(): void;
  searchHistory(): void;
  /** True when the cursor stands at the end of its line. */
  readonly isAtLineEnd: boolean;
  /** Opens the text in the editor of the person. */
  editText(): void;
  /** Gives the keys to the open request. Returns false when there is none. */
  enterRequest(): boolean;
}

/** A key of the app, where the composer has the focus. */
interface AppKey {
  readonly key: string;
  readonly ctrl?: true;
  /** Returns false when the key is to mean what it means in a text. */
  take(app: KeyedApp): boolean;
}

const appKeys: readonly AppKey[] = [
  {
    key: 'escape',
    take: (app) => {
      if (app.isWorking) app.interrupt();
      else app.escapedIdly();
      return true;
    },
  },
  {
    key: 'd',
    ctrl: true,
    take: (app) => {
      if (app.hasText) return false;
      if (app.isWorking) app.askToLeave();
      else app.leave();
      return true;
    },
  },
  {
    key: 'r',
    ctrl: true,
    take: (app) => {
      app.searchHistory();
      return true;
    },
  },
  {
    key: 'p',
    ctrl: true,
    take: (app) => {
      app.openPalette();
      return true;
    },
  },
  {
    key: 'l',
    ctrl: true,
    take: (app) => {
      app.clearScreen();
      return true;
    },
  },
  {
    key: 'g',
    ctrl: true,
    take: (app) => {
      app.editText();
      return true;
    },
  },
  {
    key: 'e',
    ctrl: true,
    take: (app) => {
      if (!app.isAtLineEnd) return false;
      app.editText();
      return true;
    },
  },
  { key: 'o', ctrl: true, take: (app) => looks(() => openOutput(app)) },
  { key: 'x', ctrl: true, take: (app) => looks(() => openTrace(app)) },
  { key: 'pageUp', take: (app) => looks(() => openTrace(app, { mode: 'c', isPageUp: true })) },
  { key: 'tab', take: (app) => app.enterRequest() },
];

function looks(open: () => void): true {
  open();
  return true;
}

/** Carries out a key of the app. Returns false when it is none. */
export function takeAppKey(app: KeyedApp, { key, ctrl }: Key): boolean {
  const found = appKeys.find((one) => one.key === key && one.ctrl === ctrl);
  return found === undefined ? false : found.take(app);
}
