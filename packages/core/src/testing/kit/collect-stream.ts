import type { Run, RunResult } from '../../engine/run/run.ts';
import { type Event, isDurable, type StreamEvent } from '../../ledger/event.ts';

/** The stream of a run, collected to its end. */
export interface CollectedStream<Output = unknown> {
  /** All streamed events, in order. */
  readonly stream: readonly StreamEvent[];
  /** The durable events in it. */
  readonly events: readonly Event[];
  /** The text of all answers, put together from its deltas. */
  readonly text: string;
  /** The text by agent. */
  readonly textOf: Readonly<Record<string, string>>;
  readonly result: RunResult<Output>;
}

/**
 * Reads the stream of a run to its end. Call it right after the start of the run: earlier events
 * are missing. Text of attempts that were made again counts once.
 * @throws the error that kept the run from being carried out
 */
export async function collectStream<Output>(run: Run<Output>): Promise<CollectedStream<Output>> {
  const stream: StreamEvent[] = [];
  for await (const event of run) stream.push(event);
  const parts = textParts(stream);
  const textOf: Record<string, string> = {};
  for (const { agent, text } of parts) textOf[agent] = `${textOf[agent] ?? ''}${text}`;
  return {
    stream,
    events: stream.filter(isDurable),
    text: parts.map(({ text }) => text).join(''),
    textOf,
    result: await run,
  };
}

interface TextPart {
  readonly invocationId: string;
  readonly agent: string;
  readonly text: string;
}

/** Returns the deltas of valid answers, without those of an attempt that was made again. */
function textParts(stream: readonly StreamEvent[]): readonly TextPart[] {
  let parts: (TextPart & { readonly isDone: boolean })[] = [];
  for (const event of stream) {
    if (event.type === 'assistant_delta')
      parts.push({
        invocationId: event.invocationId,
        agent: event.agent,
        text: event.delta,
        isDone: false,
      });
    if (event.type === 'stream_reset')
      parts = parts.filter((part) => part.isDone || part.invocationId !== event.invocationId);
    if (event.type === 'model_end' && event.status === 'completed') {
      parts = parts.map((part) =>
        part.invocationId === event.invocationId ? { ...part, isDone: true } : part,
      );
    }
  }
  return parts;
}
