import type { Event, EventDraft, JsonValue, StreamEvent } from 'adjutant';
import fc from 'fast-check';

/** A round that a model may answer, as it is drawn. */
interface DrawnRound {
  readonly thought: string;
  readonly pieces: readonly string[];
  readonly calls: readonly DrawnCall[];
  /** True when the stream begins again in the middle of the text. */
  readonly resets: boolean;
}

interface DrawnCall {
  readonly name: string;
  readonly argument: string;
  readonly result: JsonValue;
  readonly isGood: boolean;
  readonly asks: boolean;
  readonly progress: readonly string[];
}

const run = 'run_1';
const words = fc.constantFrom('one', 'two', '界世', 'x'.repeat(130), '**bold**', '`code`', 'naïve');
const line = fc.array(words, { maxLength: 8 }).map((some) => some.join(' '));
const markdown = fc
  .array(
    fc.oneof(
      line,
      fc.constant(''),
      line.map((text) => `- ${text}`),
      line.map((text) => `# ${text}`),
      line.map((text) => `\`\`\`ts\n${text}\n\n${text}\n\`\`\``),
    ),
    { maxLength: 12 },
  )
  .map((lines) => lines.join('\n'));
const call: fc.Arbitrary<DrawnCall> = fc.record({
  name: fc.constantFrom('readFile', 'runTests', 'sendMail'),
  argument: line,
  result: fc.oneof(line, markdown, fc.record({ ok: fc.boolean() })),
  isGood: fc.boolean(),
  asks: fc.boolean(),
  progress: fc.array(line, { maxLength: 4 }),
});
const pieces = (text: string): fc.Arbitrary<readonly string[]> =>
  fc
    .array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 12 })
    .map((lengths) => cut(text, lengths));
const round: fc.Arbitrary<DrawnRound> = markdown.chain((text) =>
  fc.record({
    thought: line,
    pieces: pieces(text),
    calls: fc.array(call, { maxLength: 6 }),
    resets: fc.boolean(),
  }),
);

/** Sessions of some rounds, as the events that a follower sees. */
export const drawnSession: fc.Arbitrary<readonly StreamEvent[]> = fc
  .array(round, { minLength: 1, maxLength: 4 })
  .map(eventsOf);

function cut(text: string, lengths: readonly number[]): string[] {
  const parts: string[] = [];
  for (let at = 0, n = 0; at < text.length; n++) {
    const length = lengths[n % lengths.length] ?? 1;
    parts.push(text.slice(at, at + length));
    at += length;
  }
  return parts;
}

/** Events with their places in the ledger. */
export class Recorder {
  readonly events: StreamEvent[] = [];
  #seq = 0;

  add(draft: EventDraft): Event {
    const seq = ++this.#seq;
    const event = { v: 1, seq, id: `e${seq}`, at: 1_000 + seq * 100, ...draft } as Event;
    this.events.push(event);
    return event;
  }

  stream(event: StreamEvent): void {
    this.events.push(event);
  }
}

function eventsOf(rounds: readonly DrawnRound[]): readonly StreamEvent[] {
  const recorder = new Recorder();
  recorder.add({ type: 'user', by: 'user', invocationId: run, text: 'Do it' });
  recorder.add({
    ...{ type: 'invocation_start', by: 'runtime', invocationId: run },
    ...{ kind: 'agent', name: 'coder', mode: 'root' },
  } as EventDraft);
  for (const [at, drawn] of rounds.entries()) addRound(recorder, drawn, at + 1);
  recorder.add({ type: 'invocation_end', by: 'runtime', invocationId: run, status: 'completed' });
  return recorder.events;
}

function addRound(recorder: Recorder, drawn: DrawnRound, round: number): void {
  const of = { invocationId: run, agent: 'coder' };
  const model = { by: 'runtime', invocationId: run, round, attempt: 1 } as const;
  recorder.add({
    ...model,
    ...{ type: 'model_start', agent: 'coder', model: 'scripted:world' },
    ...{ recipe: {}, estimatedInputTokens: 10 },
  } as unknown as EventDraft);
  recorder.stream({ type: 'thought_delta', ...of, delta: drawn.thought });
  if (drawn.resets) {
    for (const delta of drawn.pieces.slice(0, 3))
      recorder.stream({ type: 'assistant_delta', ...of, delta });
    recorder.stream({ type: 'stream_reset', ...of });
  }
  for (const delta of drawn.pieces) recorder.stream({ type: 'assistant_delta', ...of, delta });
  const text = drawn.pieces.join('');
  if (text !== '') recorder.add({ type: 'assistant', by: 'model', ...of, round, text });
  for (const [index, { name, argument }] of drawn.calls.entries())
    recorder.add({
      ...{ type: 'tool_call', by: 'model', ...of, callId: `${run}/r${round}.${index}` },
      ...{ name, args: { argument }, providerCallId: `c${index}`, round, index },
    } as EventDraft);
  const usage = { inputTokens: 10, outputTokens: 5 };
  recorder.add({ type: 'model_end', ...model, status: 'completed', usage, durationMs: 5 });
  for (const [index, one] of drawn.calls.entries())
    addCall(recorder, one, `${run}/r${round}.${index}`);
}

function addCall(recorder: Recorder, drawn: DrawnCall, callId: string): void {
  const { name, argument } = drawn;
  const of = { invocationId: run, callId } as const;
  if (drawn.asks) {
    const requestId = `req_${callId}`;
    recorder.add({
      ...{ type: 'tool_yield', by: 'runtime', ...of, name, args: { argument }, kind: 'approval' },
      ...{ requestId, generation: 1, fingerprint: 'f' },
      request: { agent: 'coder', summary: `${name}(…)`, options: ['approve', 'reject'] },
    } as EventDraft);
    recorder.add({ type: 'tool_input', by: 'user', ...of, requestId, decision: 'approve' });
  }
  recorder.add({ type: 'tool_attempt', by: 'runtime', ...of, attempt: 1, key: 'k', epoch: 1 });
  for (const data of drawn.progress) recorder.stream({ type: 'tool_progress', ...of, name, data });
  const status = drawn.isGood ? 'success' : 'error_permanent';
  recorder.add({
    ...{ type: 'tool_result', by: `tool:${name}`, ...of, name, attempt: 1, settled: true },
    ...{ result: { status, content: drawn.result }, durationMs: 3 },
  } as EventDraft);
}
