export { type EnvironmentOptions, injectEnvironment } from './environment.ts';
export { promptAt, promptOf } from './recipe.ts';
export {
  enrichUserMessages,
  includeHistory,
  injectSystemMessage,
  injectUserMessage,
  limitTools,
  pruneReasoning,
  selectRecentEvents,
  selectRecentTokens,
  setToolChoice,
  wrapUserMessages,
} from './renderers.ts';
export { enrichment, message, type PromptView, template } from './typed-prompts.ts';
