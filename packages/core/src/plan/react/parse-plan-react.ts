/** Kind of a part of an answer; `text` for what stands before the first mark. */
export type PlanReActKind =
  | 'planning'
  | 'replanning'
  | 'reasoning'
  | 'action'
  | 'final_answer'
  | 'text';

/** A part of an answer between two marks. */
export interface PlanReActSection {
  readonly kind: PlanReActKind;
  readonly text: string;
  /** Steps of a plan, without their numbers. */
  readonly steps?: readonly string[];
}

const mark = /\/\*\s*(PLANNING|REPLANNING|REASONING|ACTION|FINAL[_ ]ANSWER)\s*\*\//gi;
const step = /^\s*(?:\d{1,3}[.):]|[-*])\s+(.+?)\s*$/;

/**
 * Takes an answer apart at the marks of `planReAct`: `PLANNING`, `ACTION`, `REASONING` and their
 * kin between slash and star. Any text is parsed; one without marks is one part of the kind `text`.
 */
export function parsePlanReAct(text: string): readonly PlanReActSection[] {
  const sections: PlanReActSection[] = [];
  const add = (kind: PlanReActKind, part: string): void => {
    const trimmed = part.trim();
    if (kind === 'text' && trimmed === '') return;
    const isPlan = kind === 'planning' || kind === 'replanning';
    sections.push({ kind, text: trimmed, ...(isPlan ? { steps: stepsOf(trimmed) } : {}) });
  };
  let kind: PlanReActKind = 'text';
  let from = 0;
  for (const found of text.matchAll(mark)) {
    add(kind, text.slice(from, found.index));
    kind = (found[1] as string).toLowerCase().replace(' ', '_') as PlanReActKind;
    from = found.index + found[0].length;
  }
  add(kind, text.slice(from));
  return sections;
}

/** Returns parts as the text that they were parsed from. */
export function textOfSections(sections: readonly PlanReActSection[]): string {
  return sections
    .map(({ kind, text }) => (kind === 'text' ? text : `/*${kind.toUpperCase()}*/\n${text}`))
    .join('\n');
}

function stepsOf(plan: string): readonly string[] {
  return plan.split('\n').flatMap((line) => step.exec(line)?.[1] ?? []);
}
