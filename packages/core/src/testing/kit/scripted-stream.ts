import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { Clock } from '../../base/clock.ts';
import { chunksOf, finishOf, inputOf, waitFor } from './scripted-answer.ts';
import type { ScriptedResponse } from './scripted-response.ts';

export interface StreamPorts {
  readonly nextId: () => string;
  /** Clock of the gaps between chunks. */
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
}

type Controller = ReadableStreamDefaultController<LanguageModelV4StreamPart>;

/**
 * The stream of a response. Without gaps everything is enqueued at once: the stream costs as little
 * as a web stream can.
 */
export function streamOf(
  response: ScriptedResponse,
  ports: StreamPorts,
): ReadableStream<LanguageModelV4StreamPart> {
  const hasGaps = (response.chunkDelayMs ?? 0) > 0 && chunksOf(response).length > 1;
  return new ReadableStream<LanguageModelV4StreamPart>({
    start(controller) {
      enqueueThoughts(controller, response);
      if (hasGaps) {
        // Chunks that are there can be read while the rest is on its way.
        void enqueueWithGaps(controller, response, ports);
        return;
      }
      enqueueText(controller, response);
      enqueueRest(controller, response, ports.nextId);
    },
  });
}

async function enqueueWithGaps(
  controller: Controller,
  response: ScriptedResponse,
  { nextId, clock, signal }: StreamPorts,
): Promise<void> {
  const { chunkDelayMs = 0 } = response;
  try {
    controller.enqueue({ type: 'text-start', id: 'text' });
    for (const [index, delta] of chunksOf(response).entries()) {
      if (index > 0) await waitFor(chunkDelayMs, clock, signal);
      controller.enqueue({ type: 'text-delta', id: 'text', delta });
    }
    controller.enqueue({ type: 'text-end', id: 'text' });
    enqueueRest(controller, response, nextId);
  } catch (error) {
    // A reader that has left has closed the stream: nothing can be enqueued, and no error is
    // reported.
    if (signal?.aborted) controller.error(error);
  }
}

function enqueueRest(
  controller: Controller,
  response: ScriptedResponse,
  nextId: () => string,
): void {
  enqueueToolCalls(controller, response, nextId);
  if (response.streamError !== undefined)
    controller.enqueue({ type: 'error', error: response.streamError });
  else if (response.cut !== true) controller.enqueue({ type: 'finish', ...finishOf(response) });
  controller.close();
}

function enqueueThoughts(controller: Controller, { thoughts }: ScriptedResponse): void {
  if (thoughts === undefined) return;
  controller.enqueue({ type: 'reasoning-start', id: 'thought' });
  controller.enqueue({ type: 'reasoning-delta', id: 'thought', delta: thoughts });
  controller.enqueue({ type: 'reasoning-end', id: 'thought' });
}

function enqueueText(controller: Controller, response: ScriptedResponse): void {
  const chunks = chunksOf(response);
  if (chunks.length === 0) return;
  controller.enqueue({ type: 'text-start', id: 'text' });
  for (const delta of chunks) controller.enqueue({ type: 'text-delta', id: 'text', delta });
  controller.enqueue({ type: 'text-end', id: 'text' });
}

function enqueueToolCalls(
  controller: Controller,
  { toolCalls = [] }: ScriptedResponse,
  nextId: () => string,
): void {
  for (const call of toolCalls) {
    const id = call.providerCallId ?? nextId();
    const input = inputOf(call);
    controller.enqueue({ type: 'tool-input-start', id, toolName: call.name });
    controller.enqueue({ type: 'tool-input-delta', id, delta: input });
    controller.enqueue({ type: 'tool-input-end', id });
    controller.enqueue({ type: 'tool-call', toolCallId: id, toolName: call.name, input });
  }
}
