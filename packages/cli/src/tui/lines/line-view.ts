import { createInterface, type Interface } from 'node:readline';
import type { Host } from '../../host/host.ts';
import type { TerminalApp } from '../app/terminal-app.ts';
import { keyInput } from '../editor/keys.ts';
import type { Space } from '../screens/layout.ts';
import type { Popup } from '../screens/live-view.ts';
import { textOfLine } from '../text/spans.ts';
import { chosen, numbered } from './ask.ts';
import { askRequest } from './ask-request.ts';
import { spoken } from './words.ts';

/** Columns for facts that stand at the right on a screen: prose needs no more. */
const space: Space = { columns: 120, ascii: false };
/** Milliseconds in which changes are gathered, so that a part is said whole. */
const gatherMs = 33;

/**
 * The app for screen readers: what is said is never painted again, signs are words, and requests
 * and lists are numbered questions that a line answers.
 */
export class LineView {
  readonly #host: Host;
  readonly #app: TerminalApp;
  #lines: Interface | undefined;
  #printed = 0;
  #heard = '';
  #timer: NodeJS.Timeout | undefined;
  #forget: () => void = () => undefined;
  #isReady = false;
  /** Takes the next line, while a question waits for it. */
  #answer: ((line: string | undefined) => void) | undefined;
  /** Requests that were asked. */
  readonly #asked = new Set<string>();
  #isAsking = false;

  constructor(host: Host, app: TerminalApp) {
    this.#host = host;
    this.#app = app;
  }

  show(): void {
    this.#forget = this.#app.subscribe(() => {
      this.#timer ??= setTimeout(() => this.#tell(), gatherMs);
    });
    // The terminal itself edits and echoes the line.
    this.#lines = createInterface({ input: this.#host.stdin, terminal: false });
    this.#lines.on('line', (line) => this.#line(line));
    this.#lines.on('close', () => {
      this.#answer?.(undefined);
      this.#app.leave();
    });
  }

  async hide(): Promise<void> {
    this.#tell();
    this.#forget();
    clearTimeout(this.#timer);
    this.#answer?.(undefined);
    this.#lines?.removeAllListeners('close').close();
    this.#lines = undefined;
  }

  #say(...lines: readonly string[]): void {
    this.#host.stdout.write(lines.map((line) => `${line}\n`).join(''));
  }

  /** Says what is new. */
  #tell(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const { printed } = this.#app;
    for (const part of printed.slice(this.#printed)) this.#say(...part.lines(space).map(spoken));
    this.#printed = printed.length;
    const { notice, popup, state } = this.#app.view();
    if (state === 'loading' && popup === undefined) return;
    this.#sayOnce(popup === undefined ? textOfLine(notice ?? []).trim() : listText(popup));
    this.#askNext();
    const isReady = !this.#app.isWorking && !this.#isAsking && popup === undefined;
    if (isReady && !this.#isReady) this.#say('Type a message, or /help.');
    this.#isReady = isReady;
  }

  /** Says a passing text, unless it was the last of them. */
  #sayOnce(text: string): void {
    if (text !== '' && text !== this.#heard) this.#say(text);
    this.#heard = text;
  }

  #askNext(): void {
    const request = this.#app.feed.requests.find(({ requestId }) => !this.#asked.has(requestId));
    if (request === undefined || this.#isAsking) return;
    this.#isAsking = true;
    this.#asked.add(request.requestId);
    const { conversation } = this.#app;
    const now = this.#host.clock.now();
    void askRequest(request, (...lines) => this.#ask(lines), { space, now })
      .then(async (said) => {
        if (said.kind === 'message') this.#send(said.text);
        if (said.kind === 'answer') await conversation.answer(request.requestId, said.given);
      })
      .catch((error: unknown) => this.#app.fail(error))
      .finally(() => {
        this.#isAsking = false;
        this.#tell();
      });
  }

  #ask(lines: readonly string[]): Promise<string | undefined> {
    this.#say(...lines);
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    this.#answer = resolve;
    return promise;
  }

  #line(line: string): void {
    const answer = this.#answer;
    this.#answer = undefined;
    const { popup } = this.#app.view();
    if (answer !== undefined && !line.startsWith('/')) answer(line);
    else if (popup !== undefined) this.#choose(popup, line);
    else this.#send(line, answer);
  }

  /** Sends a line. A command leaves the question open that was asked. */
  #send(line: string, answer?: (line: string | undefined) => void): void {
    this.#answer = answer;
    const app = this.#app;
    // A card that took the keys would take the line as well.
    if (!app.view().isComposing) app.input(keyInput('escape'));
    if (line.trim() === '' && app.isWorking) {
      app.interrupt();
      return;
    }
    if (line !== '') app.input({ kind: 'text', text: line });
    app.input(keyInput('enter'));
  }

  #choose({ rows, marked }: Popup, line: string): void {
    const place = chosen(line, rows.length);
    if (place === undefined) {
      this.#app.input(keyInput('escape'));
      return;
    }
    const key = place > marked ? 'down' : 'up';
    for (let left = Math.abs(place - marked); left > 0; left--) this.#app.input(keyInput(key));
    this.#app.input(keyInput('enter'));
  }
}

function listText({ title = [], rows }: Popup): string {
  return [
    textOfLine(title).trim(),
    ...numbered(rows.map((row) => spoken(row))),
    'Type a number, or an empty line to close.',
  ].join('\n');
}
