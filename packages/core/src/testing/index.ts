export { type TestClock, testClock } from '../base/clocks/test-clock.ts';
export { type AgentUserOptions, agentUser } from '../conversation/agent-user.ts';
export type {
  ConversationEnd,
  ConversationResult,
  RunWithUserOptions,
} from '../conversation/conversation-options.ts';
export {
  InvalidUserMessageError,
  SimulatedUserError,
  UnansweredRequestError,
  UserAnswerRefusedError,
  UserScriptUnusedError,
} from '../conversation/errors.ts';
export { type HumanUser, type HumanUserOptions, humanUser } from '../conversation/human-user.ts';
export { type RunWithUserInAppOptions, runWithUser } from '../conversation/run-with-user.ts';
export {
  type AnswerWith,
  answerWith,
  type DecisionScript,
  type Script,
  type ScriptedDecision,
  type ScriptedUser,
  type ScriptedUserOptions,
  scriptedUser,
} from '../conversation/scripted-user.ts';
export {
  type SimulatedUserOptions,
  simulatedUser,
  simulatedUserInstructions,
} from '../conversation/simulated-user.ts';
export type {
  AnsweredRequest,
  ConversationView,
  GivenAnswer,
  SpokenMessage,
  User,
  UserAnswer,
  UserDone,
  UserProgress,
  UserQuestion,
  UserTurn,
} from '../conversation/user.ts';
export type { AskedOfUser, UserBridge } from '../conversation/user-bridge.ts';
export {
  InvalidLedgerFileError,
  LedgerFileTooNewError,
  RedactionIncompleteError,
} from '../ledger-file/errors.ts';
export { type ExportOptions, exportLedger } from '../ledger-file/export-ledger.ts';
export type { RedactedValue } from '../ledger-file/known-values.ts';
export {
  type LedgerFile,
  ledgerFileText,
  type RedactionRecord,
  type WrittenPattern,
} from '../ledger-file/ledger-file.ts';
export {
  parseLedgerFile,
  type ReadLedgerFileOptions,
  readLedgerFile,
} from '../ledger-file/read-ledger-file.ts';
export type { RedactOptions } from '../ledger-file/redaction-rules.ts';
export { replayFile } from '../ledger-file/replay-file.ts';
export { writeLedgerFile } from '../ledger-file/write-ledger-file.ts';
export { InvalidRealModelsError, RealModelForbiddenError } from '../models/real-models.ts';
export { diffLedgers, type LedgerDifference } from '../replay/diff-ledgers.ts';
export type { Difference, Divergence, DivergenceKind } from '../replay/divergence.ts';
export { divergenceText } from '../replay/divergence-text.ts';
export { type RecordedLedger, recordedLedgerOf } from '../replay/recorded-ledger.ts';
export { type ReplayOptions, type ReplayReport, replay } from '../replay/replay.ts';
export {
  type CrashCase,
  type CrashCasesOptions,
  type CrashManner,
  crashCases,
} from './contracts/crash/crash-cases.ts';
export {
  type CrashPointsOptions,
  type CrashPointsReport,
  crashPoints,
} from './contracts/crash/crash-points.ts';
export type {
  CrashScenario,
  Execution,
  MakeScenario,
  ScenarioAnswers,
  ScenarioComparison,
} from './contracts/crash/crash-scenario.ts';
export {
  type CrashingStore,
  crashingStore,
  keptOpen,
  takingOver,
} from './contracts/crash/crashing-store.ts';
export { CrashPointError, CrashPointsError } from './contracts/crash/errors.ts';
export { ledgerProjection, type ProjectionSource } from './contracts/crash/ledger-projection.ts';
export { openInvocations, type ScenarioOutcome } from './contracts/crash/scenario-process.ts';
export {
  appendBoundaries,
  continueFrom,
  type EndedScenario,
  runWhole,
} from './contracts/crash/scenario-runs.ts';
export {
  type MakeModel,
  type ModelContractOptions,
  type ModelLeftOut,
  type ModelPart,
  type ModelScript,
  type ModelUnderTest,
  modelContract,
} from './contracts/model/model-contract.ts';
export {
  type LeftOut,
  type MakeStore,
  type StoreContractOptions,
  type StorePart,
  type StoreUnderTest,
  storeContract,
} from './contracts/store/store-contract.ts';
export { type CallToolOptions, callTool, NoToolResultError } from './kit/call-tool.ts';
export { type CollectedStream, collectStream } from './kit/collect-stream.ts';
export { type EventuallyOptions, eventually, NeverHappenedError } from './kit/eventually.ts';
export { ExpectNotFoundError, InvalidMatcherUseError } from './kit/matchers/errors.ts';
export type { LedgerSource } from './kit/matchers/ledger-source.ts';
export type { MatcherResult, RunnerContext } from './kit/matchers/matcher-context.ts';
export type {
  DecisionPattern,
  EventPattern,
  KnownStatus,
  LedgerMatchers,
  MatchLedgerOptions,
  StoryPattern,
  ToolOrderOptions,
} from './kit/matchers/matcher-types.ts';
export { matchers } from './kit/matchers/matchers.ts';
export { type ExtendableExpect, setupMatchers } from './kit/matchers/setup.ts';
export { ledgerStory, type StoryOptions } from './kit/matchers/story.ts';
export { promptTokens, promptTooLong } from './kit/prompt-too-long.ts';
export {
  allowRealModels,
  areRealModelsForbidden,
  type ForbidRealModelsOptions,
  forbidRealModels,
} from './kit/real-model-switch.ts';
export { roundModel } from './kit/round-model.ts';
export { InvalidTestError, TestStepError } from './kit/run-test/errors.ts';
export type { RunTestOptions } from './kit/run-test/options.ts';
export { runTest, type TestRun } from './kit/run-test/run-test.ts';
export {
  type AnswerChoice,
  advanceTime,
  answer,
  approve,
  type CrashPlace,
  crash,
  type ExpectPrompt,
  edit,
  expectPrompt,
  input,
  type Meanwhile,
  type MockedResult,
  type ModelAnswerStep,
  meanwhile,
  model,
  type OfAgent,
  reject,
  result,
  type TestModelCall,
  type TestMoment,
  type TestStep,
  user,
} from './kit/run-test/steps.ts';
export {
  type MakeResponse,
  ScriptExhaustedError,
  type ScriptedModel,
  type ScriptedModelOptions,
  type ScriptedResponse,
  type ScriptedResponses,
  type ScriptedTurn,
  ScriptUnusedError,
  scriptedModel,
} from './kit/scripted-model.ts';
export { type TestConversation, testAgent } from './kit/test-agent.ts';
export type { TestRunner } from './kit/test-runner.ts';
export { createTestSession, type TestSessionOptions } from './kit/test-session.ts';
export { tickingClock } from './kit/ticking-clock.ts';
