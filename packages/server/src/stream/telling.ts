import { isDurable, type StreamEvent } from 'adjutant';
import type { Profile, SentFrame } from './frame.ts';
import { numbered } from './position.ts';
import type { ProfileName } from './profile-names.ts';
import type { Telling } from './replay/telling.ts';
import { concerns, isRoot, type RunState, runAfter, runOf } from './run-state.ts';

/** Returns the telling of a session in a profile. */
export function sessionTelling<State>(name: ProfileName, profile: Profile<State>): Telling<State> {
  return {
    name,
    start: profile.start,
    tell: (state, event) => {
      const folded = profile.fold(state, event);
      return { state: folded.state, frames: sent(folded.frames, event) };
    },
  };
}

function sent(frames: Parameters<typeof numbered>[1], event: StreamEvent): readonly SentFrame[] {
  if (isDurable(event)) return numbered(event.seq, frames);
  return frames.map(({ event: name, data }) => ({ event: name, data }));
}

/** State of the stream of one run in a profile, with the state of the run. */
export interface RunTold<State> {
  readonly run: RunState | undefined;
  /** `seq` of the last event by which the run was opened again. */
  readonly reopenedAt: number;
  readonly told: State;
}

/** A run of a session. It is said when it waits; its last end ends the stream. */
export function runTelling<State>(
  name: ProfileName,
  profile: Profile<State>,
  {
    session,
    run,
    reopenedAt,
  }: { readonly session: string; readonly run: string; readonly reopenedAt: number },
): Telling<RunTold<State>> {
  return {
    name: `${name} of ${run} since ${reopenedAt}`,
    start: { run: undefined, reopenedAt: 0, told: profile.start },
    tell: (before, event) => {
      const state = after(run, before, event);
      if (!concerns(run, before.run, event)) return { state, frames: [] };
      const folded = profile.fold(before.told, event);
      const next = { ...state, told: folded.state };
      const frames = sent(folded.frames, event);
      if (!isDurable(event) || state.run === undefined || state.run === before.run)
        return { state: next, frames };
      if (state.run.status === 'waiting' && event.type === 'invocation_yield') {
        return { state: next, frames, aside: waitingFrame(session, run, state.run) };
      }
      if (state.run.end !== event || event.seq <= reopenedAt) return { state: next, frames };
      return { state: next, frames, aside: endFrame(session, run, state.run), isOver: true };
    },
  };
}

function after<State>(run: string, before: RunTold<State>, event: StreamEvent): RunTold<State> {
  if (!isDurable(event)) return before;
  const state = runAfter(run, before.run, event);
  const isReopened =
    event.type === 'invocation_reopen' &&
    isRoot(event.invocationId) &&
    runOf(event.invocationId) === run;
  if (state === before.run && !isReopened) return before;
  return { ...before, run: state, reopenedAt: isReopened ? event.seq : before.reopenedAt };
}

/** Returns the frame of a run that waits for a person or another process. */
export function waitingFrame(
  session: string,
  run: string,
  { reason, requests }: RunState,
): SentFrame {
  return { event: 'waiting', data: { session, run, reason, requests } };
}

/** The last frame of a run's stream. */
function endFrame(session: string, run: string, { status, end }: RunState): SentFrame {
  const { seq, output, error, stopReason } = end ?? {};
  return { event: 'end', data: { session, run, status, seq, output, error, stopReason } };
}
