import type { Runnable } from 'adjutant';
import { describeAgent } from '../agents/describe-agent.ts';
import type { AddRoutes } from '../http/parts.ts';
import { type Asking, isAgentInReach, reachableAgent, reachableAgents } from '../http/reachable.ts';
import { addRoute } from '../http/route.ts';
import {
  type AgentAnswer,
  agentListSchema,
  agentPathSchema,
  agentSchema,
} from '../schemas/agent.ts';

const tag = 'Agents';

/** Runnables of the app. */
export const addAgentRoutes: AddRoutes = (api) => {
  addRoute(
    api,
    {
      method: 'get',
      path: '/v1/agents',
      permission: 'read',
      operationId: 'listAgents',
      tag,
      summary: 'Everything that can be run',
      description:
        'The agents, steps, sequences, parallels and loops of the app, and what they are made of.',
      answers: {
        200: { description: 'In the order in which they were registered', schema: agentListSchema },
      },
    },
    (input) => ({
      status: 200,
      body: { agents: reachableAgents(input).map((agent) => answerOf(input, agent)) },
    }),
  );
  addRoute(
    api,
    {
      method: 'get',
      path: '/v1/agents/{agent}',
      permission: 'read',
      operationId: 'getAgent',
      tag,
      summary: 'One thing that can be run',
      params: agentPathSchema,
      answers: { 200: { description: 'What it takes, gives and may call', schema: agentSchema } },
    },
    (input) => ({ status: 200, body: answerOf(input, reachableAgent(input, input.params.agent)) }),
  );
};

function answerOf(input: Asking, agent: Runnable): AgentAnswer {
  const described = describeAgent(agent, input.app.tools.list());
  return described.parts === undefined
    ? described
    : { ...described, parts: described.parts.filter((part) => isAgentInReach(input, part)) };
}
