/** Name under which an idea is known here, and what else is different about it. */
export interface KnownAs {
  /** Options, of which the first that the place has is told. `limits.rounds` is in a group. */
  readonly names: readonly string[];
  readonly remark?: string;
  /** Option by which the place is known, where a name means something else at other places. */
  readonly beside?: string;
  /** True when the option had this name in earlier versions. */
  readonly isFormer?: true;
  /** Told where people look for the idea, and the place has none of the names. */
  readonly elsewhere?: string;
}

const former = (name: string, remark?: string): KnownAs =>
  remark === undefined
    ? { names: [name], isFormer: true }
    : { names: [name], isFormer: true, remark };

const modelSettings: KnownAs = {
  names: [],
  elsewhere: "settings belong to the model: openai('gpt-5-mini', { temperature: 0 })",
};
const instructions: KnownAs = { names: ['instructions'] };
const prompt: KnownAs = { names: ['instructions', 'input', 'message'] };
const schema: KnownAs = { names: ['schema', 'input'] };
const execute: KnownAs = { names: ['execute'] };
const approval: KnownAs = {
  names: ['approval'],
  elsewhere: 'approval is an option of tools: tool({ approval: true })',
};
const rounds: KnownAs = {
  names: ['limits.rounds', 'maxIterations'],
  elsewhere: 'rounds are limited at the agent: agent({ limits: { rounds: 10 } })',
};
const output: KnownAs = { names: ['output', 'outputSchema'] };
const partInput: KnownAs = {
  names: [],
  elsewhere: 'data is checked by the part that gets it: step({ input: schema })',
};
const partOutput: KnownAs = {
  names: [],
  elsewhere: 'the output is made of those of the parts',
};
const session: KnownAs = {
  names: ['session'],
  elsewhere: 'a run names its session: app.run(agent, { session, input })',
};
const store: KnownAs = {
  names: ['store'],
  elsewhere: "the runtime keeps sessions: runtime({ app, store: sqlite('file.db') })",
};
const memory: KnownAs = {
  names: [],
  elsewhere:
    'sessions keep conversations and state (app.run(agent, { session, input })), and ' +
    'ctx.remember() keeps facts',
};
const parts: KnownAs = {
  names: ['runnables', 'runnable'],
  elsewhere: 'agents that an agent calls are tools: tools: [agentTool(other)]',
};
const attempts: KnownAs = {
  names: ['attempts', 'retry.attempts', 'modelRetry.attempts', 'defaults.modelRetry.attempts'],
  elsewhere:
    "models and tools are tried again: openai('gpt-5-mini', { retry: { attempts: 3 } }), " +
    'tool({ retry: { attempts: 3 } })',
};
const retries: KnownAs = { ...attempts, remark: 'and counts the first attempt too' };
const retriesOfEffects: KnownAs = {
  names: [],
  beside: 'onDrift',
  elsewhere: 'effects are tried again: ctx.effect(key, fn, { retry: { attempts: 3 } })',
};
const timeout: KnownAs = {
  names: ['timeoutMs'],
  elsewhere:
    'runs, calls and tools have one: app.run(agent, { timeoutMs: 60_000 }), ' +
    'ctx.call(agent, { timeoutMs: 60_000 }), tool({ timeoutMs: 60_000 })',
};
const timeoutOfRuns: KnownAs = { names: ['limits.timeoutMs'], beside: 'recover' };
const hooks: KnownAs = { names: ['hooks'] };
const guardrails: KnownAs = { names: ['supervision.guardrails'] };
const processors: KnownAs = { ...guardrails, remark: 'or `middleware`' };
const prompts: KnownAs = { names: ['hooks.beforeModel'], remark: 'or a renderer in `context`' };
const fallbacks: KnownAs = {
  names: ['model'],
  remark: 'as a list: each next one is asked when those before it cannot answer',
};
const user: KnownAs = {
  names: ['userId'],
  elsewhere: "a session belongs to a user: app.sessions.open({ id: 's', userId: 'ann' })",
};
const data: KnownAs = { names: ['data'] };
const files: KnownAs = {
  names: [],
  beside: 'onStep',
  elsewhere:
    'a message is text: put what a file says into `input`, or give the agent a tool that reads it',
};
const tracing: KnownAs = {
  names: ['middleware'],
  remark: 'with openTelemetry() of adjutant/opentelemetry',
};

const mcp: KnownAs = {
  names: [],
  elsewhere: 'there is no MCP client yet: a tool({ execute }) may call the server by its SDK',
};
const scorers: KnownAs = {
  names: [],
  elsewhere: 'evals score answers: defineEval({ scorers }) of adjutant/eval',
};
const endAfterTool: KnownAs = {
  names: ['hooks.beforeModel'],
  remark:
    "with an answer in the place of the model's: { stepEvents: [{ type: 'assistant', text }] }",
};
const strict: KnownAs = {
  names: [],
  beside: 'onRepeat',
  elsewhere: 'arguments are always checked; the model is told which do not fit',
};
const resultCache: KnownAs = {
  names: [],
  beside: 'onRepeat',
  elsewhere: 'results are recorded and not reused: keep what may be used again in ctx.state',
};
const asking: KnownAs = {
  names: [],
  beside: 'onDrift',
  elsewhere: "ctx.ask('key', { message, details, schema }) in the body gives the checked answer",
};
const models: KnownAs = {
  names: ['model'],
  elsewhere: "agents have models: agent({ model: 'openai:gpt-5-mini' })",
};
const onRequest: KnownAs = {
  names: ['onRequest'],
  elsewhere: 'the runtime tells of it: runtime({ onRequest })',
};

/** Groups of names that other systems, or earlier versions, use for one idea. */
export const optionIdeas: readonly (readonly [names: string, idea: KnownAs])[] = [
  ['maxAttempts maxRetries retries retry retryPolicy', retriesOfEffects],
  ['maxAttempts', { ...attempts, isFormer: true }],
  ['maxRetries', { ...retries, isFormer: true }],
  ['retries retry retryPolicy', retries],
  ['baseDelay', former('initialDelayMs')],
  ['backoffMultiplier', former('multiplier')],
  ['timeout', { ...timeout, isFormer: true }],
  ['timeoutMs', timeout],
  ['timeout timeoutMs', timeoutOfRuns],
  ['timeout timeoutMs', { names: ['expiresInMs'], beside: 'escalateTo' }],
  ['timeout timeoutMs', { names: ['branchTimeoutMs'], beside: 'failFast' }],
  ['branchTimeout', former('branchTimeoutMs')],
  ['requestTimeout', former('requestTimeoutMs')],
  ['ttl', former('ttlMs')],
  ['expiresIn', former('expiresInMs')],
  ['useWithin', former('useWithinMs')],
  ['resetAfter', former('resetAfterMs')],
  ['patience', former('patienceMs')],
  ['slice', former('sliceMs')],
  ['pause', former('pauseMs')],
  ['system systemPrompt systemMessage systemInstruction developer persona', instructions],
  ['prompt', prompt],
  ['message messages query question', { names: ['input'], beside: 'data' }],
  ['input', { names: ['message'] }],
  ['question text title', { names: ['message'], beside: 'escalateTo' }],
  ['parameters inputSchema argsSchema jsonSchema', schema],
  ['inputSchema', { ...partInput, beside: 'runnables' }],
  ['inputSchema', { ...partInput, beside: 'runnable' }],
  ['input', { names: ['schema'], beside: 'onRepeat' }],
  ['maxTurns maxIterations maxSteps maxRounds recursionLimit stopWhen', rounds],
  ['needsApproval requiresApproval requireApproval requireConfirmation confirm', approval],
  ['interrupt interruptBefore interruptOn humanInTheLoop', approval],
  ['handler run func fn function callback invoke call action', execute],
  ['outputType responseFormat structuredOutput outputKey resultType', output],
  ['outputSchema', { names: ['output'] }],
  ['outputSchema output', { ...partOutput, beside: 'runnables' }],
  ['outputSchema output', { ...partOutput, beside: 'runnable' }],
  [
    'outputSchema output outputType',
    {
      names: [],
      beside: 'onDrift',
      elsewhere: 'ctx.complete(value) gives the output its type; check the value before it',
    },
  ],
  [
    'outputSchema output outputType',
    {
      names: [],
      beside: 'failure',
      elsewhere: 'the agent has it: agent({ output: schema })',
    },
  ],
  ['memory longTermMemory', memory],
  ['checkpointer checkpoint storage persistence saver database db sessionService', store],
  ['store', store],
  ['thread threadId conversation conversationId sessionId chatId', session],
  ['session', session],
  ['user userId resourceId', user],
  ['temperature topP topK seed maxTokens maxOutputTokens stopSequences', modelSettings],
  ['modelSettings providerOptions reasoningEffort effort', modelSettings],
  ['agents subAgents steps nodes children tasks branches workflows', parts],
  ['fallbackModel fallbackModels fallbacks', fallbacks],
  ['guardrails inputGuardrails outputGuardrails', guardrails],
  ['callbacks onStart onFinish onStepFinish onEnd', hooks],
  ['until condition stopCondition', { names: ['while'] }],
  ['concurrency maxConcurrency parallelToolCalls', { names: ['toolConcurrency'] }],
  [
    'concurrency maxConcurrency',
    {
      names: [],
      beside: 'failFast',
      elsewhere: 'all branches start at once; a step that calls a few at a time bounds them',
    },
  ],
  [
    'race any',
    {
      names: ['until'],
      beside: 'failFast',
      remark: '(`until: 1` ends the others as soon as one has completed)',
    },
  ],
  ['maxToolResultShare toolResultShare', { names: ['resultShare'] }],
  ['maxToolResultChars toolResultLimit', { names: ['resultCharacters'] }],
  ['parts content files images attachments artifacts', files],
  ['customOutputExtractor outputExtractor outputMapper', { names: ['result'], beside: 'failure' }],
  ['onError errorHandler failureErrorFunction', { names: ['failure'] }],
  ['inputBuilder inputMapper mapInput', { names: ['input'], beside: 'failure' }],
  ['toolName', { names: ['name'] }],
  ['toolDescription', { names: ['description'] }],
  ['abortSignal', { names: ['signal'] }],
  ['context runContext deps dependencies', data],
  ['telemetry tracing experimentalTelemetry', tracing],
  ['id', { names: ['name', 'app'] }],
  ['handoffDescription', { names: ['description'], beside: 'handoffs' }],
  ['prepareStep prepareCall', prompts],
  ['processors inputProcessors outputProcessors', processors],
  ['mcpServers mcp mcpTools', mcp],
  ['scorers evals', scorers],
  ['toolUseBehavior stopAtToolNames', endAfterTool],
  ['strict', strict],
  ['cache', { names: ['middleware'], remark: 'with responseCache() of adjutant/middleware' }],
  ['cache', resultCache],
  ['resumeSchema', { names: ['yieldSchema'] }],
  ['resumeSchema', { names: ['schema'], beside: 'escalateTo' }],
  ['resumeSchema suspendSchema', asking],
  ['suspendSchema', { names: ['yieldOptions'], remark: 'with `details`, which people are shown' }],
  ['suspendSchema', { names: ['details'], beside: 'escalateTo', remark: 'and needs no schema' }],
  [
    'logger logging',
    { names: ['middleware'], remark: 'with loggingMiddleware() of adjutant/middleware' },
  ],
  ['model models', models],
  ['onInterrupt onSuspend onApproval', onRequest],
];
