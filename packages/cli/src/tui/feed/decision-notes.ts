import type { EventOf } from 'adjutant';
import type { Note } from './block.ts';

/** Decisions that change who works or what is done, by component; others are in the trace. */
const shown: Readonly<Record<string, readonly string[]>> = {
  loop_detector: ['warn', 'block'],
  models: ['fallback', 'forbidden'],
  limits: ['warn', 'exhausted', 'message_expired', 'too_many_waiting', 'cost_unknown'],
  guardrail: ['deny', 'confirm', 'transform'],
  circuit_breaker: ['open', 'refuse'],
  permissions: ['refuse'],
  lifecycle: ['refuse'],
  goal: ['unmet'],
  error_router: ['fallbackTool', 'escalate'],
  request: ['escalate', 'standing', 'covered'],
};
const failures: ReadonlySet<string> = new Set([
  'loop_detector.block',
  'limits.exhausted',
  'lifecycle.refuse',
  'models.forbidden',
  'guardrail.deny',
]);
const quiet: ReadonlySet<string> = new Set(['request.standing', 'request.covered']);
/** Words before the reason, where it does not name the part that decided. */
const names: Readonly<Record<string, string>> = { loop_detector: 'loop guard: ' };

/** Returns the note about a decision. `undefined`: it is not shown. */
export function decisionNote(event: EventOf<'decision'>): Note | undefined {
  const { component, decision, reasoning, seq } = event;
  if (!shown[component]?.includes(decision)) return undefined;
  const id = `${component}.${decision}`;
  const text = `${names[component] ?? ''}${String(reasoning)}`;
  if (quiet.has(id)) return { kind: 'note', sign: 'note', tone: 'plain', text, isQuiet: true, seq };
  return failures.has(id)
    ? { kind: 'note', sign: 'failed', tone: 'failure', text, seq }
    : { kind: 'note', sign: 'attention', tone: 'attention', text, seq };
}
