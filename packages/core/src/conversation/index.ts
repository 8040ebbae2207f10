export { type AgentUserOptions, agentUser } from './agent-user.ts';
export type {
  ConversationEnd,
  ConversationResult,
  ConverseOptions,
} from './conversation-options.ts';
export { converse } from './converse.ts';
export {
  InvalidUserMessageError,
  SimulatedUserError,
  UnansweredRequestError,
  UserAnswerRefusedError,
  UserScriptUnusedError,
} from './errors.ts';
export { type HumanUser, type HumanUserOptions, humanUser } from './human-user.ts';
export {
  type AnswerWith,
  answerWith,
  type DecisionScript,
  type Script,
  type ScriptedDecision,
  type ScriptedUser,
  type ScriptedUserOptions,
  scriptedUser,
} from './scripted-user.ts';
export {
  type SimulatedUserOptions,
  simulatedUser,
  simulatedUserInstructions,
} from './simulated-user.ts';
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
} from './user.ts';
export type { AskedOfUser, UserBridge } from './user-bridge.ts';
