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
export type { EvalOptions, EvalVariant, OwnAppVariant, SharedAppVariant, TrialPlace, TrialSubject } from './eval-options.ts';
export type { SessionCommand } from './html/case-section.ts';
export { type EvalReportHtmlOptions, evalReportHtml } from './html/report-page.ts';
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
export type { Score, Scorer, ScorerContext, TrialRecord, TrialToolCall, TrialTurn } from './scorers/scorer.ts';
