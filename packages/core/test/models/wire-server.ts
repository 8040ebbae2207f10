import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { systemClock } from '../../src/base/clock.ts';
import type { JsonObject } from '../../src/base/json.ts';
import type { ModelAnswer } from '../../src/models/answer.ts';
import { callModel } from '../../src/models/call.ts';
import type { Model } from '../../src/models/model.ts';
import { callSettings } from '../../src/models/model.ts';
import { toModelError } from '../../src/models/model-error.ts';

export interface WireRequest {
  /** The host that was meant, when the request came through `redirected`. */
  readonly host: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
  readonly body: JsonObject;
  /** Resolves when the connection is closed by the client before the answer was complete. */
  readonly aborted: Promise<void>;
}

/** Writes one answer. */
export type Responder = (response: ServerResponse, request: WireRequest) => void | Promise<void>;

export interface WireServer {
  readonly url: string;
  readonly requests: readonly WireRequest[];
  /** Answers to the next requests, in order; one request too many is answered with 599. */
  answer(...responders: Responder[]): void;
  /** Takes back what was prepared and has not been asked for. */
  forget(): void;
  /** A `fetch` that sends everything here, whatever host was meant. */
  readonly redirected: typeof fetch;
  close(): Promise<void>;
}

export async function startWireServer(): Promise<WireServer> {
  const requests: WireRequest[] = [];
  const pending: Responder[] = [];
  const server = createServer(async (message, response) => {
    const aborted = Promise.withResolvers<void>();
    response.on('close', () => {
      if (!response.writableFinished) aborted.resolve();
    });
    let text = '';
    for await (const chunk of message) text += String(chunk);
    const url = new URL(message.url ?? '/', 'http://local');
    const request: WireRequest = {
      host: String(message.headers['x-meant-host'] ?? message.headers.host),
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: message.headers,
      body: text.startsWith('{') ? (JSON.parse(text) as JsonObject) : {},
      aborted: aborted.promise,
    };
    requests.push(request);
    await (pending.shift() ?? json(599, { error: { message: 'no answer was prepared' } }))(
      response,
      request,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: base,
    requests,
    answer: (...responders) => void pending.push(...responders),
    forget: () => void pending.splice(0),
    redirected: (input, init) => {
      const meant = new URL(String(input));
      const headers = new Headers(init?.headers);
      headers.set('x-meant-host', meant.host);
      return fetch(`${base}${meant.pathname}${meant.search}`, { ...init, headers });
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export function json(
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): Responder {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };
}

/**
 * Frames of a server-sent event stream; a string is written as it is, anything else as JSON.
 * Objects with a `type` name the event too.
 */
export type Frame = string | object;

function frameText(frame: Frame): string {
  if (typeof frame === 'string') return `data: ${frame}\n\n`;
  const { type } = frame as { type?: unknown };
  return `${typeof type === 'string' ? `event: ${type}\n` : ''}data: ${JSON.stringify(frame)}\n\n`;
}

function startStream(response: ServerResponse, frames: readonly Frame[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const frame of frames) response.write(frameText(frame));
}

export function sse(...frames: Frame[]): Responder {
  return (response) => {
    startStream(response, frames);
    response.end();
  };
}

/** A page of a proxy instead of an answer. */
export function html(status: number): Responder {
  return (response) => {
    response.writeHead(status, { 'content-type': 'text/html' });
    response.end('<h1>Bad gateway</h1>');
  };
}

/** Breaks the connection before anything is answered. */
export function refuse(): Responder {
  return (response) => {
    response.socket?.resetAndDestroy();
  };
}

/**
 * Sends the frames and then breaks the connection, once the client has had the time to read them.
 */
export function reset(...frames: Frame[]): Responder {
  return (response) => {
    startStream(response, frames);
    setImmediate(() => response.socket?.resetAndDestroy());
  };
}

/** Sends the frames and then nothing more, until the client goes away. */
export function hang(...frames: Frame[]): Responder {
  return (response) => startStream(response, frames);
}

export const weatherTool = {
  type: 'function' as const,
  name: 'weather',
  description: 'Weather of a city',
  inputSchema: {
    type: 'object' as const,
    properties: { city: { type: 'string' as const } },
    required: ['city'],
  },
};

const question: LanguageModelV4CallOptions['prompt'] = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: [{ type: 'text', text: 'How is the weather?' }] },
];

export interface Heard {
  readonly texts: string[];
  readonly thoughts: string[];
  readonly toolArgs: string[];
}

/** Calls back for each text instead of keeping it. */
export function hearing(onText: () => void): Heard {
  const texts: string[] = [];
  texts.push = () => {
    onText();
    return 0;
  };
  return { texts, thoughts: [], toolArgs: [] };
}

/** Calls a model as the runtime does, with its settings. */
export async function ask(
  model: Model,
  options: Partial<LanguageModelV4CallOptions> = {},
  heard?: Heard,
): Promise<ModelAnswer> {
  const sink = heard && {
    text: (delta: string) => void heard.texts.push(delta),
    thought: (delta: string) => void heard.thoughts.push(delta),
    toolArgs: (_id: string, name: string, delta: string) =>
      void heard.toolArgs.push(`${name} ${delta}`),
  };
  return callModel(
    await model.load(),
    { prompt: question, ...callSettings(model.settings), ...options },
    systemClock,
    sink,
  );
}

/** Returns the record that the runtime would make of a failed call. */
export async function failureOf(model: Model, options: Partial<LanguageModelV4CallOptions> = {}) {
  try {
    await ask(model, options);
  } catch (error) {
    return toModelError(error, `${model.provider}:${model.modelId}`);
  }
  throw new Error('The call was expected to fail');
}
