import { isDurable, type StreamEvent } from 'adjutant';
import { createParser } from 'eventsource-parser';
import { client, noText, type StreamedTexts, streamedText } from '../../src/client/index.ts';

/** Somebody who follows a session with the typed client, and keeps everything that comes. */
export class Watcher {
  readonly events: StreamEvent[] = [];
  /**
   * Ids of the frames as they came over the wire, before the client has seen them, of all
   * connections.
   */
  readonly ids: number[] = [];
  /** Each text that an answer had in between. */
  readonly texts: string[] = [];
  connections = 0;
  #texts: StreamedTexts = noText;
  #failure: { readonly error: unknown } | undefined;
  readonly #left = new AbortController();
  readonly #waiting = new Set<() => void>();

  constructor(url: string, session: string) {
    const watching = client({
      url,
      retry: { initialDelayMs: 20, maxDelayMs: 200 },
      fetch: (input, init) => this.#fetch(input, init),
    });
    void this.#follow(watching.sessions.follow(session, { signal: this.#left.signal }));
  }

  /** Resolves with the first event of all that is wanted. */
  async until(isWanted: (event: StreamEvent) => boolean): Promise<StreamEvent> {
    for (;;) {
      const found = this.events.find(isWanted);
      if (found !== undefined) return found;
      await this.#news();
    }
  }

  /** Resolves when somebody's answer is, or has been, this text. */
  async untilText(text: string): Promise<void> {
    while (!this.texts.includes(text)) await this.#news();
  }

  /** Resolves when a run has ended. */
  async untilEnd(run: string): Promise<StreamEvent> {
    return this.until((event) => event.type === 'invocation_end' && event.invocationId === run);
  }

  get durable(): readonly StreamEvent[] {
    return this.events.filter(isDurable);
  }

  leave(): void {
    this.#left.abort();
  }

  async #news(): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure.error;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    await promise;
  }

  async #follow(events: AsyncIterable<StreamEvent>): Promise<void> {
    try {
      for await (const event of events) {
        this.events.push(event);
        this.#texts = streamedText(this.#texts, event);
        const { text } =
          (event.invocationId === undefined ? undefined : this.#texts.get(event.invocationId)) ??
          {};
        if (text !== undefined && text !== this.texts.at(-1)) this.texts.push(text);
        this.#tell();
      }
    } catch (error) {
      this.#failure = { error };
    }
    this.#tell();
  }

  #tell(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }

  async #fetch(input: string, init: RequestInit): Promise<Response> {
    const response = await fetch(input, init);
    if (response.body === null || response.status !== 200) return response;
    this.connections++;
    const decoder = new TextDecoder();
    const parser = createParser({
      onEvent: ({ id }) => (id === undefined ? undefined : this.ids.push(Number(id))),
    });
    const looking = new TransformStream<Uint8Array, Uint8Array>({
      transform: (bytes, controller) => {
        parser.feed(decoder.decode(bytes, { stream: true }));
        controller.enqueue(bytes);
      },
    });
    return new Response(response.body.pipeThrough(looking), {
      status: response.status,
      headers: response.headers,
    });
  }
}
