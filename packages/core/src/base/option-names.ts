/** Name under which an idea is known here, and what else is different about it. */
interface KnownAs {
  /** Options, of which the first that the place has is told. `limits.rounds` is in a group. */
  readonly names: readonly string[];
  readonly remark?: string;
  /** Option that the place must have as well, where a name stands for several ideas. */
  readonly beside?: string;
  /** True when the option had this name in earlier versions. */
  readonly isFormer?: true;
  /** Told where the place has none of the names, and people look for the idea there. */
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
const attempts: KnownAs = { names: ['attempts', 'retry.attempts', 'modelRetry.attempts'] };
const retries: KnownAs = { ...attempts, remark: 'and counts the first attempt too' };
const hooks: KnownAs = { names: ['hooks'] };
const guardrails: KnownAs = { names: ['supervision.guardrails'] };
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

/** Groups of names that other systems, or earlier versions, use for one idea. */
const groups: readonly (readonly [names: string, idea: KnownAs])[] = [
  ['maxAttempts', { ...attempts, isFormer: true }],
  ['maxRetries', { ...retries, isFormer: true }],
  ['retries', retries],
  ['baseDelay', former('initialDelayMs')],
  ['backoffMultiplier', former('multiplier')],
  ['timeout', former('timeoutMs')],
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
  ['parameters inputSchema argsSchema jsonSchema', schema],
  ['maxTurns maxIterations maxSteps maxRounds recursionLimit stopWhen', rounds],
  ['needsApproval requiresApproval requireApproval requireConfirmation confirm', approval],
  ['interrupt interruptBefore interruptOn humanInTheLoop', approval],
  ['handler run func fn function callback invoke call action', execute],
  ['outputType responseFormat structuredOutput outputKey resultType', output],
  ['memory longTermMemory', memory],
  ['checkpointer checkpoint storage persistence saver database db sessionService', store],
  ['thread threadId conversation conversationId sessionId chatId', session],
  ['user userId resourceId', user],
  ['temperature topP topK seed maxTokens maxOutputTokens stopSequences', modelSettings],
  ['modelSettings providerOptions reasoningEffort effort', modelSettings],
  ['agents subAgents steps nodes children tasks branches workflows', parts],
  ['fallbackModel fallbackModels fallbacks', fallbacks],
  ['guardrails inputGuardrails outputGuardrails', guardrails],
  ['callbacks onStart onFinish onStepFinish onEnd', hooks],
  ['until condition stopCondition', { names: ['while'] }],
  ['concurrency maxConcurrency parallelToolCalls', { names: ['toolConcurrency'] }],
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
];

const ideas: ReadonlyMap<string, KnownAs> = new Map(
  groups.flatMap(([names, idea]) => names.split(' ').map((name) => [comparable(name), idea])),
);

/** Options by which agents, tools, steps, compositions, runtimes and runs are recognised. */
const mainPlaces: readonly string[] = [
  'toolConcurrency',
  'onRepeat',
  'onDrift',
  'runnables',
  'runnable',
  'onStep',
];

/**
 * Returns the hint about a name that these options do not have but that stands for an idea which
 * they, or other definitions, have; `undefined` for other names.
 */
export function ideaHint(name: string, options: readonly string[]): string | undefined {
  const idea = ideas.get(comparable(name));
  if (idea === undefined) return undefined;
  if (idea.beside !== undefined && !options.includes(idea.beside)) return undefined;
  const found = idea.names.find((one) => options.includes(one.split('.')[0] as string));
  if (found !== undefined) {
    const isFormer = idea.isFormer === true && !found.includes('.');
    const told = isFormer ? `it is called \`${found}\` now` : `it is \`${found}\` here`;
    return idea.remark === undefined ? told : `${told} ${idea.remark}`;
  }
  return mainPlaces.some((one) => options.includes(one)) ? idea.elsewhere : undefined;
}

/** Returns a name as it is compared: without case, `_` and `-`. */
function comparable(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, '');
}
