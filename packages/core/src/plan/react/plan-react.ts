import { checkOptions } from '../../base/invalid-option.ts';
import { isNonEmptyText, type OptionChecks } from '../../base/options.ts';
import type { Event } from '../../ledger/event.ts';
import { belongsTo } from '../../ledger/path.ts';
import type { Goal } from '../../runnables/goal.ts';
import type { Middleware, ModelResult, StepEvent } from '../../runnables/hooks.ts';
import { injectMessage } from '../../runnables/prompt-text.ts';
import { type PlanReActSection, parsePlanReAct, textOfSections } from './parse-plan-react.ts';

export interface PlanReActOptions {
  /** Text behind the ready instructions, such as how detailed a plan should be. @default none */
  readonly instructions?: string;
}

const optionChecks: OptionChecks<PlanReActOptions> = { instructions: isNonEmptyText };

/** Instructions that make a model plan before it acts. */
const contract = `Work by a plan, and mark each part of what you write.

Before you do anything, write the plan under /*PLANNING*/ as a numbered list of steps:
/*PLANNING*/
1. first step
2. second step

Then carry out the steps in order with the tools that you have. Write /*ACTION*/ and one line about
the step before you call its tool, and /*REASONING*/ and what you learnt after its result.
If the plan does not work out, write the new one under /*REPLANNING*/ in the same form.
When everything is done, write /*FINAL_ANSWER*/ and the whole answer behind it. Only what stands
behind /*FINAL_ANSWER*/ is shown to the user, so never leave it out.`;

/**
 * Makes an agent plan first, also with models that do not think by themselves: it adds the
 * contract to the prompt and takes the answer apart. The output is the text behind
 * `FINAL_ANSWER`; everything before it in the last answer becomes a thought. `planReActOf` reads
 * the plan from the events.
 * @throws InvalidOptionError
 * @example
 * ```ts
 * import { agent } from 'adjutant';
 * import { finalAnswerGoal, planReAct } from 'adjutant/plan';
 *
 * const clerk = agent({
 *   name: 'clerk',
 *   model: 'openai:gpt-5-mini',
 *   middleware: [planReAct()],
 *   goal: finalAnswerGoal,
 * });
 * console.log(clerk.name);
 * ```
 */
export function planReAct(options: PlanReActOptions = {}): Middleware {
  checkOptions('planReAct', options, optionChecks);
  const text =
    options.instructions === undefined ? contract : `${contract}\n\n${options.instructions}`;
  return Object.freeze<Middleware>({
    name: 'planReAct',
    context: [injectMessage('system', text)],
    afterModel: (_ctx, result) => withFinalAnswer(result),
  });
}

/**
 * Returns the answer with its final part as the only text. Answers without it stay as they are: the
 * model sees its plan in the next prompt.
 */
function withFinalAnswer(result: ModelResult): ModelResult | undefined {
  const { stepEvents } = result;
  const texts = stepEvents.filter((event) => event.type === 'assistant');
  const sections = parsePlanReAct(texts.map(({ text }) => text).join('\n'));
  const final = sections.findLast(({ kind }) => kind === 'final_answer');
  if (final === undefined || stepEvents.some(({ type }) => type === 'tool_call')) return undefined;
  const before = sections.slice(0, sections.indexOf(final));
  const changed: StepEvent[] = stepEvents.filter(({ type }) => type === 'thought');
  if (before.length > 0) changed.push({ type: 'thought', text: textOfSections(before) });
  changed.push({ type: 'assistant', text: final.text });
  return { ...result, stepEvents: changed };
}

/**
 * Goal for agents with `planReAct`: an answer that only plans gets another round. Weak models stop
 * behind their plan.
 */
export const finalAnswerGoal: Goal = Object.freeze<Goal>({
  check: (output) => {
    if (typeof output !== 'string') return true;
    const sections = parsePlanReAct(output);
    return sections.every(({ kind }) => kind === 'text')
      ? true
      : 'Carry out the rest of your plan, and write the whole answer behind /*FINAL_ANSWER*/.';
  },
});

/** A part of what an agent wrote, with its place. */
export interface PlacedSection extends PlanReActSection {
  readonly seq: number;
}

/** The plan of an agent and the parts that it wrote, as `planReAct` asks for them. */
export interface PlanReActView {
  /** Steps of the plan that counts: the last one that was written. */
  readonly steps: readonly string[];
  /** Number of plans that were written. */
  readonly plans: number;
  /** Parts in their order. */
  readonly sections: readonly PlacedSection[];
}

/**
 * Reads the plan of an agent with `planReAct` from events. It is a view: nothing else holds the
 * plan.
 * @param path path of an invocation, to read what it and those below it wrote. @default everything
 */
export function planReActOf(events: readonly Event[], path?: string): PlanReActView {
  const sections: PlacedSection[] = [];
  for (const event of events) {
    if (event.type !== 'assistant' && event.type !== 'thought') continue;
    if (path !== undefined && !belongsTo(event.invocationId, path)) continue;
    if (typeof event.text !== 'string') continue;
    for (const section of parsePlanReAct(event.text))
      if (section.kind !== 'text') sections.push({ ...section, seq: event.seq });
  }
  const plans = sections.filter(({ kind }) => kind === 'planning' || kind === 'replanning');
  return { steps: plans.at(-1)?.steps ?? [], plans: plans.length, sections };
}
