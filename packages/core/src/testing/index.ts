export { type CrashingStore, crashingStore, takingOver } from './crash/crashing-store.ts';
export { allowRealModels, areRealModelsForbidden, type ForbidRealModelsOptions, forbidRealModels } from './real-model-switch.ts';
export {
  ScriptExhaustedError,
  type ScriptedModel,
  type ScriptedModelOptions,
  type ScriptedResponse,
  type ScriptedResponses,
  type ScriptedTurn,
  ScriptUnusedError,
  scriptedModel,
} from './scripted-model.ts';
export { type MakeStore, type StoreUnderTest, storeContract } from './store-contract.ts';
export { type TestClock, testClock } from './test-clock.ts';
export type { ConversationEnd, ConversationResult, RunWithUserOptions } from './users/conversation-options.ts';
export {
  InvalidUserMessageError,
  SimulatedUserError,
  UnansweredRequestError,
  UserAnswerRefusedError,
  UserScriptUnusedError,
} from './users/errors.ts';
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
