export { InvalidDatasetError } from './dataset/errors.ts';
export type {
  CaseExpectation,
  Dataset,
  EvalApproval,
  EvalCase,
  EvalCaseInput,
  EvalScenario,
  EvalTurn,
  Expectation,
  ExpectedResponse,
  ExpectedToolCall,
  ValuePattern,
} from './dataset/eval-case.ts';
export { parseDataset } from './dataset/parse-dataset.ts';
export { readDataset } from './dataset/read-dataset.ts';
export { defineEval, type EvalDefinition, isEvalDefinition } from './define-eval.ts';
export { InvalidEvalError } from './errors.ts';
export type {
  EvalOptions,
  EvalVariant,
  OwnAppVariant,
  SharedAppVariant,
  TrialPlace,
  TrialSubject,
} from './eval-options.ts';
export { evaluate } from './evaluate.ts';
export type { SessionCommand } from './html/case-section.ts';
export { type EvalReportHtmlOptions, evalReportHtml } from './html/report-page.ts';
export { JudgeFailedError } from './judge/errors.ts';
export type { CaseChange, CaseChangeKind, CaseSide } from './kept/case-changes.ts';
export {
  EvalReportNotFoundError,
  EvalReportUnreadableError,
  EvalVariantNotFoundError,
  type UnreadableReason,
} from './kept/errors.ts';
export {
  type ComparedEval,
  type CompareOptions,
  type EvalComparison,
  type EvalDetails,
  type EvalHead,
  type EvalReports,
  type EvalReportsOptions,
  evalReports,
  type KeptEval,
  type KeptEvalPage,
} from './kept/eval-reports.ts';
export type { CaseFilter, CaseOfVariant, PageOptions } from './kept/report-pages.ts';
export type {
  CaseReport,
  Comparison,
  Difference,
  EvalProgress,
  EvalProgressStart,
  EvalReport,
  EvalTrialEnded,
  EvalTrialStarted,
  Interval,
  PassAtK,
  ScoreReport,
  ScoreSummary,
  ToolCallReport,
  TrialReport,
  TrialStatus,
  TurnReport,
  VariantReport,
  VariantSummary,
} from './report.ts';
export { type BudgetOptions, cost, latency, steps, tokens } from './scorers/budgets.ts';
export type { ClaimKind } from './scorers/claims.ts';
export { InvalidScoreError } from './scorers/errors.ts';
export { type GroundednessOptions, groundedness } from './scorers/groundedness.ts';
export { type LooseScore, type OwnScorerOptions, scorer } from './scorers/own-scorer.ts';
export { type ResponseMatchOptions, responseMatch } from './scorers/response-match.ts';
export {
  type Criterion,
  type JudgedGroundednessOptions,
  judgedGroundedness,
  type RubricOptions,
  rubric,
} from './scorers/rubric.ts';
export type {
  Score,
  Scorer,
  ScorerContext,
  TrialRecord,
  TrialToolCall,
  TrialTurn,
} from './scorers/scorer.ts';
export { type StateMatchOptions, stateMatch } from './scorers/state-match.ts';
export { type Overlap, tokenOverlap } from './scorers/text-overlap.ts';
export { type ToolTrajectoryOptions, toolTrajectory } from './scorers/tool-trajectory.ts';
export type { CaseOutcome } from './statistics/intervals.ts';
export { rateInterval, scoreInterval, wilson } from './statistics/intervals.ts';
export { passAllK, passAtK } from './statistics/pass-at-k.ts';
export { EvalStoppedError, TrialTimeoutError, UserModelMissingError } from './trial/errors.ts';
