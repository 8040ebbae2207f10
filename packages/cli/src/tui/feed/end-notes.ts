import type { EventOf } from 'adjutant';
import { formatDuration } from '../../output/format.ts';
import { usageText } from './amounts.ts';
import type { Note } from './block.ts';
import type { ChildWork } from './places.ts';
import type { Totals } from './totals.ts';

/** Shortest runs whose usage is told. */
const toldRounds = 2;
const toldMs = 5_000;

const cutShort: Readonly<Record<NonNullable<EventOf<'invocation_end'>['stopReason']>, string>> = {
  round_limit: 'round limit',
  token_limit: 'token limit',
  cost_limit: 'cost limit',
  error_limit: 'error limit',
  output_limit: 'longest answer of the model',
  loop: 'it asked again and again for what leads nowhere',
  goal_unmet: 'the answer does not reach the goal',
  refused: 'the run was not let in',
};

/** Returns what is told at the end of a run. */
export function endNotes(
  { status, error, stopReason, seq }: EventOf<'invocation_end'>,
  used: Totals,
  durationMs: number,
): readonly Note[] {
  const notes: Note[] = [];
  if (status === 'error') notes.push(failure(error?.message, error?.code, seq));
  if (status === 'cancelled')
    notes.push({ kind: 'note', sign: 'stopped', tone: 'attention', text: 'Cancelled.', seq });
  if (status === 'completed' && stopReason !== undefined) {
    const text = `Cut short: ${cutShort[stopReason]}.`;
    notes.push({ kind: 'note', sign: 'attention', tone: 'attention', text, seq });
  }
  if (used.rounds >= toldRounds || durationMs >= toldMs) {
    const text = usageText(used, durationMs);
    notes.push({ kind: 'note', sign: 'note', tone: 'plain', text, isQuiet: true });
  }
  return notes;
}

function failure(message = 'no reason was recorded', code = '', seq: number): Note {
  const advice = /missing_key|401|api key/i.test(`${code} ${message}`)
    ? ' Set the key, and start the app again.'
    : ' /retry asks again.';
  const text = `The run failed: ${message}${/[.!?]$/.test(message) ? '' : '.'}${advice}`;
  return { kind: 'note', sign: 'failed', tone: 'failure', text, seq };
}

export interface Interruption {
  /** Author of the pause. */
  readonly by: string | undefined;
  readonly tookMs: number;
  /** True when an answer was cut off, and is kept. */
  readonly isCut: boolean;
  readonly seq: number;
}

/** Returns the note about an interrupted run, which goes on when it is asked to. */
export function interruptedNote({ by, tookMs, isCut, seq }: Interruption): Note {
  const isHere = by === undefined || by === 'user' || by.startsWith('user:');
  const text =
    `Interrupted by ${isHere ? 'you' : by} after ${formatDuration(tookMs)}` +
    `${isCut ? '; the cut answer is kept' : ''}.  Enter goes on`;
  return { kind: 'note', sign: 'stopped', tone: 'attention', text, seq };
}

/** Returns what is told of the work of a called agent that has ended. */
export function childText(child: ChildWork, endedAt: number): string {
  const { name, input, rounds, tokens, cost, startedAt } = child;
  const used = { rounds, tokens, cost, isCostUnknown: cost === 0 };
  const asked = input === '' ? '' : ` "${input}"`;
  return `↳ ${name}${asked}  ${usageText(used, endedAt - startedAt)}`;
}
