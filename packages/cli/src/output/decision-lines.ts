import { type ExplainedDecision, explainText, type Failure } from 'adjutant/views';
import { formatTime } from './format.ts';
import { plainLine } from './plain-text.ts';
import type { Style } from './style.ts';

/** Returns decisions as text, one line each. */
export function decisionLines(style: Style, decisions: readonly ExplainedDecision[]): string[] {
  if (decisions.length === 0) return ['Nothing was decided that needs an explanation.'];
  return decisions.map(({ seq, at, component, decision, what }) => {
    const label = style.dim(plainLine(`${component}: ${decision}`));
    return (
      `${style.dim(String(seq).padStart(5))}  ${style.dim(formatTime(at))}  ` +
      `${plainLine(what)} ${label}`
    );
  });
}

/** Returns failures as text, one line each. */
export function failureLines(style: Style, found: readonly Failure[]): string[] {
  if (found.length === 0) return ['Nothing failed.'];
  return found.map(({ seq, at, kind, name, code, message }) => {
    const label = kind === 'escalation' ? style.yellow('escalated') : style.red(`${kind} failed`);
    return (
      `${style.dim(String(seq).padStart(5))}  ${style.dim(formatTime(at))}  ${label}  ` +
      `${plainLine(`${name}: ${message} (${code})`)}`
    );
  });
}

/**
 * Returns decisions as texts, with their reasons and alternatives. The only control characters in
 * them are line ends.
 */
export function decisionTexts(decisions: readonly ExplainedDecision[]): string[] {
  return explainText(decisions).trimEnd().split('\n');
}
