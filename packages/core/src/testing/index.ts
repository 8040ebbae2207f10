export { InvalidRealModelsError, RealModelForbiddenError } from '../models/real-models.ts';
export { type CallToolOptions, callTool, NoToolResultError } from './call-tool.ts';
export { type CollectedStream, collectStream } from './collect-stream.ts';
export { type CrashCase, type CrashCasesOptions, type CrashManner, crashCases } from './crash/crash-cases.ts';
export { type CrashPointsOptions, type CrashPointsReport, crashPoints } from './crash/crash-points.ts';
export type { CrashScenario, Execution, MakeScenario, ScenarioAnswers, ScenarioComparison } from './crash/crash-scenario.ts';
export { type CrashingStore, crashingStore, keptOpen, takingOver } from './crash/crashing-store.ts';
export { CrashPointError, CrashPointsError } from './crash/errors.ts';
export { ledgerProjection, type ProjectionSource } from './crash/ledger-projection.ts';
export { openInvocations, type ScenarioOutcome } from './crash/scenario-process.ts';
export { appendBoundaries, continueFrom, type EndedScenario, runWhole } from './crash/scenario-runs.ts';
export { type EventuallyOptions, eventually, NeverHappenedError } from './eventually.ts';
export { InvalidLedgerFileError, LedgerFileTooNewError, RedactionIncompleteError } from './ledger-file/errors.ts';
export { type ExportOptions, exportLedger } from './ledger-file/export-ledger.ts';
export type { RedactedValue } from './ledger-file/known-values.ts';
export { type LedgerFile, ledgerFileText, type RedactionRecord, type WrittenPattern } from './ledger-file/ledger-file.ts';
export { parseLedgerFile, type ReadLedgerFileOptions, readLedgerFile } from './ledger-file/read-ledger-file.ts';
export type { RedactOptions } from './ledger-file/redaction-rules.ts';
export { replayFile } from './ledger-file/replay-file.ts';
export { writeLedgerFile } from './ledger-file/write-ledger-file.ts';
export { ExpectNotFoundError, InvalidMatcherUseError } from './matchers/errors.ts';
export type { LedgerSource } from './matchers/ledger-source.ts';
export type { MatcherResult, RunnerContext } from './matchers/matcher-context.ts';
export type {
  DecisionPattern,
  EventPattern,
  KnownStatus,
  LedgerMatchers,
  MatchLedgerOptions,
  StoryPattern,
  ToolOrderOptions,
} from './matchers/matcher-types.ts';
export { matchers } from './matchers/matchers.ts';
export { type ExtendableExpect, setupMatchers } from './matchers/setup.ts';
export { ledgerStory, type StoryOptions } from './matchers/story.ts';
export {
  type MakeModel,
  type ModelContractOptions,
  type ModelLeftOut,
  type ModelPart,
  type ModelScript,
  type ModelUnderTest,
  modelContract,
} from './model-contract.ts';
export { promptTokens, promptTooLong } from './prompt-too-long.ts';
export { allowRealModels, areRealModelsForbidden, type ForbidRealModelsOptions, forbidRealModels } from './real-model-switch.ts';
export { diffLedgers, type LedgerDifference } from './replay/diff-ledgers.ts';
export type { Difference, Divergence, DivergenceKind } from './replay/divergence.ts';
export { divergenceText } from './replay/divergence-text.ts';
export { type RecordedLedger, recordedLedgerOf } from './replay/recorded-ledger.ts';
export { type ReplayOptions, type ReplayReport, replay } from './replay/replay.ts';
export { roundModel } from './round-model.ts';
export { InvalidTestError, TestStepError } from './run-test/errors.ts';
export type { RunTestOptions } from './run-test/options.ts';
export { runTest, type TestRun } from './run-test/run-test.ts';
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
} from './run-test/steps.ts';
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
} from './scripted-model.ts';
export { type LeftOut, type MakeStore, type StoreContractOptions, type StorePart, type StoreUnderTest, storeContract } from './store-contract.ts';
export { type TestConversation, testAgent } from './test-agent.ts';
export { type TestClock, testClock } from './test-clock.ts';
export type { TestRunner } from './test-runner.ts';
export { createTestSession, type TestSessionOptions } from './test-session.ts';
export { tickingClock } from './ticking-clock.ts';
export { type AgentUserOptions, agentUser } from './users/agent-user.ts';
export type { ConversationEnd, ConversationResult, RunWithUserOptions } from './users/conversation-options.ts';
export {
  InvalidUserMessageError,
  SimulatedUserError,
  UnansweredRequestError,
  UserAnswerRefusedError,
  UserScriptUnusedError,
} from './users/errors.ts';
export { type HumanUser, type HumanUserOptions, humanUser } from './users/human-user.ts';
export { type RunWithUserInAppOptions, runWithUser } from './users/run-with-user.ts';
export {
  type AnswerWith,
  answerWith,
  type DecisionScript,
  type Script,
  type ScriptedDecision,
  type ScriptedUser,
  type ScriptedUserOptions,
  scriptedUser,
} from './users/scripted-user.ts';
export { type SimulatedUserOptions, simulatedUser, simulatedUserInstructions } from './users/simulated-user.ts';
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
} from './users/user.ts';
export type { AskedOfUser, UserBridge } from './users/user-bridge.ts';
