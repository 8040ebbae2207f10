export { type TestClock, testClock } from '../base/clocks/test-clock.ts';
export type { PublishedEvent } from '../ledger/decisions/service-decisions.ts';
export { InvalidRealModelsError, RealModelForbiddenError } from '../models/real-models.ts';
export {
  type BusContractOptions,
  type BusUnderTest,
  busContract,
  type MakeBus,
} from './contracts/bus/bus-contract.ts';
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
  type EngineContractOptions,
  type EngineUnderTest,
  engineContract,
  type MakeEngine,
} from './contracts/engine/engine-contract.ts';
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
export { fire, type PublishStepOptions, publish } from './kit/run-test/event-steps.ts';
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
export type { SimulatedEvent } from './simulation/events/simulated-event.ts';
export type { FaultKind, FaultRates } from './simulation/faults.ts';
export { usualRates } from './simulation/faults.ts';
export type { AppOfProcess, MakeApp, SimulatedApp } from './simulation/machine-room.ts';
export type { SimulationFailure } from './simulation/report/shorter-story.ts';
export type { SimulationRule } from './simulation/report/simulation-rules.ts';
export type { SimulationReport } from './simulation/report/tally.ts';
export { type SimulateOptions, simulate } from './simulation/simulate.ts';
export type { SeedOutcome, SimulatedEnd, SimulatedProgramEnd } from './simulation/simulate-seed.ts';
export type { SimulatedProgram } from './simulation/simulated-program.ts';
export type { BrokenRule } from './simulation/watched-ledger.ts';
