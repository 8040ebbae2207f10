import type { EventOf } from 'adjutant';
import { formatCost, formatTokens } from '../../output/format.ts';
import type { Note } from './block.ts';
import { failureKind } from './failure-words.ts';

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
type Decision = EventOf<'decision'>;
type Data = Readonly<Record<string, unknown>>;

/** Words for decisions whose reasons are longer than what a person has to know at once. */
const words: Readonly<Record<string, (data: Data, reason: string) => string>> = {
  'loop_detector.warn': (_, reason) => `loop guard: ${firstSentence(reason)}; the model is told.`,
  'loop_detector.block': (_, reason) =>
    `loop guard: ${firstSentence(reason)}; the call was not run.`,
  'models.fallback': ({ from, to, code }) =>
    `${from} cannot answer: ${failureKind(String(code))}. Goes on with ${to}.`,
  'limits.warn': ({ reason, used, limit }) =>
    `${shareOf(used, limit)} of the ${limitName(reason)} used: ` +
    `${amountOf(reason, used)} of ${amountOf(reason, limit)}.`,
  'limits.exhausted': ({ reason, used, limit, needed }, full) => {
    if (reason === 'loop') return full;
    const next =
      needed === undefined ? '' : `, and the next calls may need ${amountOf(reason, needed)}`;
    const follows = /The agent (.*)$/.exec(full)?.[1] ?? '';
    return (
      `${limitName(reason)}: ${amountOf(reason, used)} of ${amountOf(reason, limit)} used` +
      `${next}. The agent ${follows}`
    );
  },
};

function firstSentence(text: string): string {
  return text.replace(/\.(\s.*)?$/s, '');
}

const limitNames: Readonly<Record<string, string>> = {
  round_limit: 'round limit',
  token_limit: 'token limit',
  cost_limit: 'cost limit',
  error_limit: 'limit of failures',
};

function limitName(reason: unknown): string {
  return limitNames[String(reason)] ?? String(reason);
}

function amountOf(reason: unknown, amount: unknown): string {
  if (typeof amount !== 'number') return String(amount);
  if (reason === 'cost_limit') return formatCost(amount);
  return reason === 'token_limit' ? formatTokens(amount) : String(amount);
}

function shareOf(used: unknown, limit: unknown): string {
  const share = typeof used === 'number' && typeof limit === 'number' ? used / limit : 0.9;
  return `${Math.floor(share * 100)} %`;
}

/** Returns the note about a decision. `undefined`: it is not shown. */
export function decisionNote(event: Decision): Note | undefined {
  const { component, decision, reasoning, data, seq } = event;
  if (!shown[component]?.includes(decision)) return undefined;
  const id = `${component}.${decision}`;
  const text = words[id]?.((data ?? {}) as Data, String(reasoning)) ?? String(reasoning);
  if (quiet.has(id)) return { kind: 'note', sign: 'note', tone: 'plain', text, isQuiet: true, seq };
  return failures.has(id)
    ? { kind: 'note', sign: 'failed', tone: 'failure', text, seq }
    : { kind: 'note', sign: 'attention', tone: 'attention', text, seq };
}
