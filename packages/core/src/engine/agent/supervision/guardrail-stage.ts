import { coerceToJson, type JsonValue } from '../../../base/json.ts';
import type {
  CheckedCall,
  CheckMode,
  EndedAttempt,
  SupervisedCall,
} from '../../../effects/tool-call/supervisor.ts';
import { noWrites } from '../../../effects/writes.ts';
import type { EventDraft } from '../../../ledger/event.ts';
import type { CallState } from '../../../loop/call-state.ts';
import {
  applyGuardrails,
  type Guardrail,
  type GuardrailDecision,
  guardrailsAt,
} from '../../../supervision/guardrail.ts';
import { toolResult } from '../../../tools/result.ts';
import { guardrailDraft } from './decision-draft.ts';
import type { CallStage, Outcome, ResultStage } from './stage.ts';

/** Applies the guardrails of tool calls and of tool results. */
export class GuardrailStage implements CallStage, ResultStage {
  readonly #path: string;
  readonly #callGuards: readonly Guardrail[];
  readonly #resultGuards: readonly Guardrail[];

  constructor(path: string, guardrails: Parameters<typeof guardrailsAt>[0]) {
    this.#path = path;
    this.#callGuards = guardrailsAt(guardrails, 'toolCall');
    this.#resultGuards = guardrailsAt(guardrails, 'toolResult');
  }

  check({ tool, args, state }: SupervisedCall, mode: CheckMode): CheckedCall | undefined {
    if (this.#callGuards.length === 0) return undefined;
    const given = coerceToJson(args).value;
    const { value, denied, guidance, confirm, decisions } = applyGuardrails(
      'toolCall',
      this.#callGuards,
      { agent: state.call.agent, round: state.call.round, name: tool.name, args: given },
    );
    if (decisions.length === 0) return undefined;
    const drafts = decisions.map((decided) => this.#draft(decided, state));
    // A person has seen and allowed these very arguments.
    if (mode === 'approved') return { guidance, writes: noWrites };
    if (denied !== undefined) {
      const result = toolResult.blocked(denied.message, { errorType: 'guardrail_denied' });
      return {
        refused: { result, notes: guidance, writes: { drafts, extras: undefined } },
        guidance: [],
        writes: noWrites,
      };
    }
    return {
      ...(value === given ? {} : { args: value }),
      guidance,
      confirm: confirm?.summary,
      writes: mode === 'again' ? noWrites : { drafts, extras: undefined },
    };
  }

  after({ tool, args, state }: EndedAttempt, outcome: Outcome): void {
    if (this.#resultGuards.length === 0) return;
    const { result } = outcome;
    const { value, denied, guidance, decisions } = applyGuardrails(
      'toolResult',
      this.#resultGuards,
      {
        agent: state.call.agent,
        round: state.call.round,
        name: tool.name,
        args: args as JsonValue,
        result,
      },
    );
    if (decisions.length === 0) return;
    outcome.drafts = [
      ...outcome.drafts,
      ...decisions.map((decided) => this.#draft(decided, state)),
    ];
    outcome.notes = [...outcome.notes, ...guidance];
    if (denied !== undefined)
      outcome.result = toolResult.blocked(denied.message, { errorType: 'guardrail_denied' });
    else if (value !== result.content) outcome.result = { ...result, content: value };
  }

  #draft(decided: GuardrailDecision, { call: { callId } }: CallState): EventDraft {
    return guardrailDraft(this.#path, decided, { callId });
  }
}
